import { beforeAll, describe, expect, test } from 'vitest';
import { at, pod } from '#test/contract/harness.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { processScene } from '#test/scheduler/process-scene.ts';
import { eventually } from '#test/build/waiting.ts';

const TIMEOUT_MS = 60_000;
const PATIENCE_MS = 20_000;
const PODS = '/api/v1/namespaces/default/pods';
const POSITION = '/api/v1/namespaces/plimsoll-system/configmaps/plimsoll-disruptions';
const POLICIES = '/apis/plimsoll.dev/v1alpha1/disruptionpolicies';
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--disruptions-record=On'];

describe('removals while no replica runs', { timeout: TIMEOUT_MS }, () => {
  const { send, start } = processScene();

  beforeAll(async () => {
    for (const name of ['first', 'second', 'third', 'stays'])
      await send('POST', PODS, pod(name, { nodeName: 'node-1' }));
  }, TIMEOUT_MS);

  async function recorded(): Promise<readonly unknown[]> {
    const list = await send('GET', '/apis/plimsoll.dev/v1alpha1/disruptions');
    const items = at(list, 'items') as readonly object[];
    return items.map((each) => `${String(at(each, 'spec.pod'))}: ${String(at(each, 'spec.cause'))}`).toSorted();
  }

  async function positionOf(): Promise<unknown> {
    return at(await send('GET', POSITION), 'data.resourceVersion');
  }

  /** Runs a process until it has recorded these. */
  async function runUntil(expected: readonly string[]): Promise<SchedulerProcess> {
    const process = await start(FLAGS);
    await eventually(async () => expect(await recorded()).toEqual(expected), PATIENCE_MS);
    return process;
  }

  test('are recorded by the next one', async () => {
    const before = await runUntil([]);
    // A pod that goes before the first list was never there for the process.
    await eventually(async () => expect(Number(await positionOf())).toBeGreaterThan(0), PATIENCE_MS);
    await send('DELETE', `${PODS}/first`);
    await eventually(async () => expect(await recorded()).toEqual(['first: Deletion']), PATIENCE_MS);
    // The watch shows this one, so the position passes it.
    const marker = Number(
      at(await send('POST', PODS, pod('marker', { nodeName: 'node-1' })), 'metadata.resourceVersion'),
    );
    await eventually(async () => expect(Number(await positionOf())).toBeGreaterThanOrEqual(marker), PATIENCE_MS);
    await before.stop();
    await send('DELETE', `${PODS}/second`);
    // The revision of the next list is higher than that of any pod.
    await send('POST', '/api/v1/namespaces', { metadata: { name: 'later' } });
    const after = await runUntil(['first: Deletion', 'second: Deletion']);
    await after.stop();
  });

  test('that the API server has forgotten are not invented: the time of the gap is stored', async () => {
    await send('PATCH', POSITION, { data: { resourceVersion: '1' } });
    await send('DELETE', `${PODS}/third`);
    const process = await start(FLAGS);
    await eventually(async () => {
      const gaps = JSON.parse(String(at(await send('GET', POSITION), 'data.gaps'))) as readonly object[];
      expect(gaps).toEqual([{ from: expect.any(String) as string, to: expect.any(String) as string }]);
    }, PATIENCE_MS);
    expect(process.log()).toContain('Removals in this period are not recorded');
    expect(await recorded()).toEqual(['first: Deletion', 'second: Deletion']);
    await process.stop();
  });

  test('are kept as the DisruptionPolicy says, which takes effect without a restart', async () => {
    await runUntil(['first: Deletion', 'second: Deletion']);
    const head = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'DisruptionPolicy', metadata: { name: 'plimsoll' } };
    await send('POST', POLICIES, { ...head, spec: { retention: { perNamespace: 1 } } });
    await eventually(async () => expect(await recorded()).toHaveLength(1), PATIENCE_MS);
  });
});

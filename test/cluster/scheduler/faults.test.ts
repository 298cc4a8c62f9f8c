import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { decodeNodePressure } from '#shared/api/node-pressure.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { kubectl } from '#test/cluster/support/control-plane/kubectl.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at } from '#test/contract/harness.ts';
import { type SchedulerProcess, startSchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { untilScores } from './ask-extender.ts';
import { HOUR_MS, MARKER, PRESSURES_BY_HAND, type PressureByHand, reported } from './pressures-by-hand.ts';
import { PATIENCE_MS, preemptionScenario } from './preemption-scenario.ts';
import { eventually } from '#test/build/waiting.ts';
import { ENFORCING_NODES } from './enforcing-nodes.ts';
import { NODE_POLICIES } from '#test/scheduler/nodes/node-policies.ts';

const OVERLAY = fileURLToPath(new URL('../../../deploy/overlays/node-controller', import.meta.url));
const PRESSURES = '/apis/plimsoll.dev/v1alpha1/nodepressures';
const NODES = ['node-0', 'node-1'];
const WRITES = /plimsoll_scheduler_node_writes_total\{[^}]*\} (?<count>\d+)/g;
const why = whyNoOwnCluster(process.env);

/** One process is both extender and node controller. Each pod of a test may preempt the one before, on the same node. */
describe.skipIf(why !== undefined)(`extender and node controller, when others fail${why ?? ''}`, () => {
  let port = 0;
  let highest = 2_000;
  let writtenByHand = 0;
  let scheduler: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '2s' }] } };
  });

  beforeAll(async () => {
    const { cluster } = own();
    const applied = await kubectl(cluster.kubeconfig, ['apply', '--server-side', '-k', OVERLAY]);
    expect([applied.status, applied.stderr]).toEqual([0, '']);
    await send('POST', NODE_POLICIES, ENFORCING_NODES);
    await start();
    for (const name of NODES) await send('POST', PRESSURES, { ...TYPE, metadata: { name } });
  }, 60_000);
  afterAll(() => scheduler.stop());

  async function start(clockOffsetMs = 0): Promise<void> {
    scheduler = await startSchedulerProcess(own().cluster.kubeconfig, port, [], { clockOffsetMs });
  }

  const { createClass, create, pokedUntilPlaced } = preemptionScenario(own, 'default-scheduler');

  async function send(method: 'GET' | 'POST' | 'PATCH', path: string, body?: object): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, ...(body && { body }) });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  /** A pod with a class of its own takes the place of the one before, and the pod that opted out stays. */
  async function preempt(name: string): Promise<void> {
    await createClass(name, (highest += 1));
    await create(name, name);
    await pokedUntilPlaced([name, 'opted-out'].sort(), PATIENCE_MS);
  }

  async function write(byHand: PressureByHand, node: string): Promise<void> {
    const pods = (await send('GET', '/api/v1/namespaces/default/pods')) as { items: readonly unknown[] };
    const placed = pods.items.map((each) => ({
      name: String(at(each, 'metadata.name')),
      uid: String(at(each, 'metadata.uid')),
    }));
    const { avoid = [], status } = byHand(Date.now(), placed);
    await send('PATCH', `${PRESSURES}/${node}`, { spec: { avoid: [MARKER, ...avoid] } });
    await send('PATCH', `${PRESSURES}/${node}/status`, { status });
    writtenByHand += 2;
  }

  async function taintsOf(node: string): Promise<unknown> {
    const taints = (at(await send('GET', `/api/v1/nodes/${node}`), 'spec.taints') ?? []) as readonly unknown[];
    return taints.map((each) => at(each, 'key'));
  }

  test.each(Object.entries(PRESSURES_BY_HAND))(
    'NodePressures %s: the pod is placed, the protected one stays, no node is tainted',
    async (name, byHand) => {
      for (const node of NODES) await write(byHand, node);
      await untilScores(port, { 'node-0': 0, 'node-1': 0 }, [ownerOf(MARKER)]);
      await preempt(name.replaceAll(/[^a-z]+/g, '-'));
      for (const node of NODES) {
        expect(await taintsOf(node)).toEqual([]);
        expect(decodeNodePressure(await send('GET', `${PRESSURES}/${node}`)).avoid.length).toBeLessThanOrEqual(64);
      }
    },
    60_000,
  );

  test('they cause no more writes than changes', async () => {
    const counts = [...(await scheduler.metrics()).matchAll(WRITES)].map(({ groups }) => Number(groups?.['count']));
    expect(counts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(2 * writtenByHand);
  });

  test('after a restart of the API server preemption and taints work as before', async () => {
    const { cluster } = own();
    await cluster.stop('kube-apiserver');
    await cluster.start('kube-apiserver');
    await eventually(() => write((now) => reported(now, 'True'), 'node-1'), PATIENCE_MS);
    await eventually(async () => expect(await taintsOf('node-1')).toEqual(['plimsoll.dev/memory-pressure']), 60_000);
    await write((now) => reported(now, 'False'), 'node-1');
    await eventually(async () => expect(await taintsOf('node-1')).toEqual([]), PATIENCE_MS);
    await preempt('after-the-restart');
  }, 120_000);

  test.each([
    ['ahead', HOUR_MS],
    ['behind', -HOUR_MS],
  ])(
    'with a clock an hour %s a report is unknown and adds no taint, and preemption works as before',
    async (direction, offsetMs) => {
      await scheduler.stop();
      await start(offsetMs);
      await write((now) => reported(now + offsetMs, 'False'), 'node-1');
      await eventually(async () => expect(await contentionOf('node-1')).toBe('False'), PATIENCE_MS);
      await write((now) => reported(now, 'True'), 'node-1');
      await eventually(async () => expect(await contentionOf('node-1')).toBe('Unknown'), PATIENCE_MS);
      expect(await taintsOf('node-1')).toEqual([]);
      await preempt(`by-a-clock-${direction}`);
    },
    60_000,
  );

  async function contentionOf(node: string): Promise<unknown> {
    const conditions = at(await send('GET', `/api/v1/nodes/${node}`), 'status.conditions') as readonly unknown[];
    const found = conditions.find((each) => at(each, 'type') === 'plimsoll.dev/MemoryContention');
    return at(found, 'status');
  }
});

const TYPE = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'NodePressure' };

function ownerOf({ owner }: typeof MARKER): object {
  return { apiVersion: 'apps/v1', kind: owner.kind, name: owner.name, uid: 'marker', controller: true };
}

import { beforeAll, describe, expect, test } from 'vitest';
import { eventually } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { processScene } from '#test/scheduler/process-scene.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';

const PATIENCE_MS = 15_000;
const NODES = '/api/v1/nodes';
const QUEUES = '/apis/plimsoll.dev/v1alpha1/queues';
const PODS = '/api/v1/namespaces/shop/pods';
const FLAGS = ['--extender=Off', '--nodes-passes=Off', '--queues-passes=On'];
const GATED = [{ name: 'plimsoll.dev/queue' }];

describe('a node that lies about what it has', { timeout: 60_000 }, () => {
  const { send, start } = processScene();
  const shop = { name: 'shop', labels: { 'plimsoll.dev/queues': 'managed' } };
  const containers = [{ name: 'main', image: 'x', resources: { requests: { cpu: '1' } } }];

  beforeAll(async () => {
    for (const name of ['node-0', 'node-1']) {
      await send('POST', NODES, { metadata: { name }, status: { allocatable: { cpu: '2', pods: '110' } } });
    }
    await send('POST', '/api/v1/namespaces', { metadata: shop });
    const queue = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue', metadata: { name: 'all' } };
    await send('POST', QUEUES, { ...queue, spec: { namespaceSelector: {} } });
    for (let index = 0; index < 8; index += 1) {
      await send('POST', PODS, { metadata: { name: `p-${index}` }, spec: { containers, schedulingGates: GATED } });
    }
    first = await start(FLAGS);
  }, PATIENCE_MS);

  let first: SchedulerProcess;

  async function letIn(): Promise<number> {
    const pods = at(await send('GET', PODS), 'items') as readonly object[];
    return pods.filter((pod) => ((at(pod, 'spec.schedulingGates') ?? []) as readonly unknown[]).length === 0).length;
  }

  test('opens no gate, and the queue names it', async () => {
    await eventually(async () => expect(await letIn()).toBe(4), PATIENCE_MS);
    await send('PATCH', `${NODES}/node-0/status`, { status: { allocatable: { cpu: '100000' } } });
    await eventually(async () => {
      const conditions = at(await send('GET', `${QUEUES}/all`), 'status.conditions') as readonly object[];
      const doubted = conditions.find((each) => at(each, 'type') === 'NodesDoubted');
      expect(at(doubted, 'message')).toMatch('node node-0 reports 100k cpu; 2 counts until');
    }, PATIENCE_MS);
    expect(await letIn()).toBe(4);
  });

  test('opens none either when another leader begins', async () => {
    const spec = at(await send('GET', '/apis/plimsoll.dev/v1alpha1/queueselectors/plimsoll'), 'spec');
    expect(spec).toMatchObject({ largestNode: { cpu: '2', pods: '110' } });
    await first.stop();
    await start(FLAGS);
    await send('DELETE', `${PODS}/p-0`);
    await eventually(async () => expect(await letIn()).toBeGreaterThan(3), PATIENCE_MS);
    expect(await letIn()).toBe(4);
  });
});

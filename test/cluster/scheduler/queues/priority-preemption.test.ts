import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { PATIENCE_MS } from './queue-scene.ts';
import { fill, type QueuePodPlan, reclaimScene } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 90_000 };
/** Of a third queue, and more important than all others. */
const TAKER: QueuePodPlan = { name: 'taker', queue: 'other', className: 'high' };
/** Of equal pods kube-scheduler preempts those that were started last: `a` or `b`, which are all that `prod` has. */
const RUNNING = [...fill('test', ['c', 'd']), ...fill('prod', ['a', 'b'])];
const GUARANTEED = { prod: { guaranteed: { cpu: 8 } }, test: {}, other: {} };

describe.skipIf(why !== undefined)(`kube-scheduler's own preemption between queues${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const config = { urlPrefix: `http://127.0.0.1:${port}`, preemptVerb: 'preempt', nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...config, ignorable: true, httpTimeout: '2s' }] } };
  });
  const scene = reclaimScene(own, { mode: 'Disabled' });
  const { begin, createPod, get, onNodes, untilPlaced } = scene;

  beforeAll(async () => {
    await scene.open();
    const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
    await scene.create(classes, { metadata: { name: 'high' }, value: 1_000 });
    extender = await startShipped(own(), 'control-plane-extender', [], { port });
  }, 120_000);
  afterAll(async () => {
    await extender.stop();
    await scene.close();
  });

  /** Why kube-scheduler has not placed a pod. */
  function reasonOf(pod: unknown): unknown {
    return at(pod, 'status.conditions.0.reason');
  }

  /** Waits until kube-scheduler has tried the pod, and returns what the extender has said about nodes since. */
  async function untilRefused(name: string, from: number): Promise<string> {
    return eventually(async () => {
      expect(reasonOf(await get(name))).toBe('Unschedulable');
      const said = extender.log().slice(from);
      expect(said).toContain(`"pod":"team/${name}"`);
      return said;
    }, PATIENCE_MS);
  }

  test('takes from the queue over its guarantee, and not from the one at its guarantee (S2-10)', TEST, async () => {
    await begin(GUARANTEED, RUNNING);
    await createPod(TAKER);
    const left = await untilPlaced('taker');
    expect([left.length, left.includes('a'), left.includes('b')]).toEqual([4, true, true]);
  });

  test.each<[string, object, string]>([
    ['below its guarantee (S2-10)', { test: {}, other: {} }, 'queue prod would be below its guarantee'],
    ['outside the fence of the other (S2-15)', { other: { preemption: { policy: 'Fence' } } }, 'outside the fence'],
    ['that takes no part in preemption (S2-32)', { prod: { preemption: { policy: 'Disabled' } } }, 'takes no part'],
  ])('takes nothing where it would be from a queue %s', TEST, async (_, change, reason) => {
    await begin({ ...GUARANTEED, ...change }, RUNNING);
    const from = extender.log().length;
    await createPod({ ...TAKER, node: 'node-0' });
    expect(await untilRefused('taker', from)).toContain(reason);
    expect(await onNodes()).toEqual(['a', 'b', 'c', 'd']);
  });

  test('two pods that ask in one moment do not take the same part twice', TEST, async () => {
    const queues = {
      prod: { guaranteed: { cpu: 4 } },
      test: { preemption: { policy: 'Disabled' } },
      other: {},
      more: {},
    };
    await begin(queues, [...fill('prod', ['a', 'c']), ...fill('test', ['b', 'd'])]);
    const takers = ['other', 'more'].map((queue) => ({ ...TAKER, name: `of-${queue}`, queue }));
    await Promise.all(takers.map(createPod));
    const seen = await eventually(async () => {
      const reasons = await Promise.all(takers.map(async ({ name }) => reasonOf(await get(name))));
      expect(reasons.toSorted()).toEqual(['Unschedulable', undefined]);
      return onNodes();
    }, PATIENCE_MS);
    expect(seen.filter((name) => 'ac'.includes(name))).toHaveLength(1);
    expect(seen).toEqual(expect.arrayContaining(['b', 'd']));
  });

  test('without the extender it breaks the guarantee', TEST, async () => {
    await begin(GUARANTEED, RUNNING);
    await extender.stop();
    await createPod(TAKER);
    const left = await untilPlaced('taker');
    expect(left).toEqual(expect.arrayContaining(['c', 'd', 'taker']));
    expect(left).toHaveLength(4);
  });
});

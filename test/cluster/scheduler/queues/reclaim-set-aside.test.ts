import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { at, textAt, type WatchLine } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { followLines } from '#test/cluster/scheduler/removals/watch-lines.ts';
import { PATIENCE_MS, podOf, pods, QUEUES } from './queue-scene.ts';
import { fill, GUARANTEED, isGated, reclaimScene, TAKER, TEAM } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 90_000 };

describe.skipIf(why !== undefined)(
  `room that is set aside for a queue, on the stock kube-scheduler${why ?? ''}`,
  () => {
    const own = ownCluster();
    const scene = reclaimScene(own);
    const { begin, createPod, get, onNodes, untilPlaced, untilNoRoom } = scene;

    beforeAll(async () => {
      await scene.open();
      const classes = '/apis/scheduling.k8s.io/v1/priorityclasses';
      await scene.create(classes, { metadata: { name: 'never' }, value: 0, preemptionPolicy: 'Never' });
      await scene.create(classes, { metadata: { name: 'high' }, value: 1_000 });
      await scene.create(classes, { metadata: { name: 'low' }, value: -1_000 });
    }, 120_000);
    afterAll(() => scene.close());

    test(
      'all that go are on one node, which is set aside before the first of them goes (S2-24, S2-25)',
      TEST,
      async () => {
        await begin({ prod: { guaranteed: { cpu: 5 } }, base: { guaranteed: { cpu: 8 } }, test: {} }, [
          { name: 'base-0', queue: 'base', cpu: '5', node: 'node-0' },
          { name: 'base-1', queue: 'base', cpu: '3', node: 'node-1' },
          { name: 'x1', queue: 'test', cpu: '2', node: 'node-0' },
          { name: 'x2', queue: 'test', cpu: '2', node: 'node-1', graceSeconds: 4 },
          { name: 'x3', queue: 'test', cpu: '3', node: 'node-1', graceSeconds: 4 },
        ]);
        const [seen, ended] = [new Array<WatchLine>(), new AbortController()];
        const { following } = await followLines(own().admin, pods(TEAM), seen, ended.signal);
        await createPod({ ...TAKER, cpu: '5' });
        const first = (name: string, field: string) =>
          seen.findIndex(({ object }) => textAt(object, 'metadata.name') === name && at(object, field) !== undefined);
        const going = () => ['x2', 'x3'].map((name) => first(name, 'metadata.deletionTimestamp'));
        await eventually(() => expect(Math.min(...going())).toBeGreaterThanOrEqual(0), PATIENCE_MS);
        const setAside = first('taker', 'status.nominatedNodeName');
        const taker = seen[setAside]?.object;
        expect([at(taker, 'status.nominatedNodeName'), isGated(taker)]).toEqual(['node-1', true]);
        expect(setAside).toBeLessThan(Math.min(...going()));
        ended.abort();
        await following;
        expect(await untilPlaced('taker')).toEqual(['base-0', 'base-1', 'taker', 'x1']);
        expect(at(await get('taker'), 'spec.nodeName')).toBe('node-1');
      },
    );

    test(
      'room that is set aside is not for others of the same priority, nor for lower pods of the queue (S0-23)',
      TEST,
      async () => {
        await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { graceSeconds: 4, className: 'low' }));
        await createPod(TAKER);
        await eventually(async () => expect(await onNodes()).toHaveLength(3), PATIENCE_MS);
        await scene.create(pods('default'), podOf('stranger', { priorityClassName: 'never' }, {}, '4'));
        await createPod({ ...TAKER, name: 'lower', className: 'low' });
        expect(await untilPlaced('taker')).toHaveLength(3);
        const { body } = await scene.user()('GET', pods('default', 'stranger'));
        expect(at(body, 'spec.nodeName')).toBeUndefined();
        await own().admin.request({
          method: 'DELETE',
          path: pods('default', 'stranger'),
          body: { gracePeriodSeconds: 0 },
        });
        expect(await untilPlaced('lower')).toContain('taker');
      },
    );

    test('a more important pod takes the room, and more is made (S3-33)', TEST, async () => {
      await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { graceSeconds: 4 }));
      await createPod(TAKER);
      await eventually(async () => expect(await onNodes()).toHaveLength(3), PATIENCE_MS);
      await scene.create(pods('default'), podOf('urgent', { priorityClassName: 'high' }, {}, '4'));
      expect(await untilPlaced('taker')).toHaveLength(3);
    });

    test('a PodDisruptionBudget is never exceeded, and the pod is told which one (S3-7)', TEST, async () => {
      await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { labels: { app: 'kept' } }));
      await scene.create(`/apis/policy/v1/namespaces/${TEAM}/poddisruptionbudgets`, {
        metadata: { name: 'kept' },
        spec: { minAvailable: 4, selector: { matchLabels: { app: 'kept' } } },
      });
      await createPod(TAKER);
      expect(await untilNoRoom('taker')).toEqual(['budget team/kept allows no eviction that would make room']);
      await eventually(async () => {
        const { body } = await scene.user()('GET', `${QUEUES}/prod`);
        const message = 'budget team/kept allows no eviction that would make room';
        const blocked = { type: 'ReclaimBlocked', status: 'True', reason: 'BudgetSpent', message };
        expect(at(body, 'status.conditions')).toContainEqual(expect.objectContaining(blocked));
      }, PATIENCE_MS);
      expect(await onNodes()).toEqual(['a', 'b', 'c', 'd']);
    });

    test('another kube-scheduler learns which nodes are set aside as soon as it has the Lease', TEST, async () => {
      const leases = '/apis/coordination.k8s.io/v1/namespaces/kube-system/leases';
      const heldBy = (holderIdentity: string) => ({ metadata: { name: 'kube-scheduler' }, spec: { holderIdentity } });
      // This kube-scheduler elects no leader, so that the Lease is the test's to write.
      await scene.create(leases, heldBy('before'));
      await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { graceSeconds: 20 }));
      await createPod(TAKER);
      const nominated = await eventually(async () => {
        const pod = await get('taker');
        expect(at(pod, 'status.nominatedNodeName')).toBeDefined();
        return pod;
      }, PATIENCE_MS);
      const since = systemClock.monotonic();
      await own().cluster.stop('kube-scheduler');
      await own().cluster.start('kube-scheduler');
      expect((await scene.user()('PATCH', `${leases}/kube-scheduler`, heldBy('after'))).status).toBe(200);
      await eventually(async () => {
        const pod = await get('taker');
        expect(at(pod, 'metadata.resourceVersion')).not.toBe(at(nominated, 'metadata.resourceVersion'));
        expect(at(pod, 'status.nominatedNodeName')).toBe(at(nominated, 'status.nominatedNodeName'));
      }, PATIENCE_MS);
      // Without the Lease it is written again after ten seconds.
      expect(systemClock.monotonic() - since).toBeLessThan(9_000);
      expect(await untilPlaced('taker')).toHaveLength(4);
    });

    test('a leader that takes over goes on with what is set aside, and no second pod goes', TEST, async () => {
      await begin(GUARANTEED, fill('test', ['a', 'b', 'c', 'd'], { graceSeconds: 10 }));
      await createPod(TAKER);
      await eventually(async () => expect(await onNodes()).toHaveLength(3), PATIENCE_MS);
      await scene.replaceLeader();
      expect(await untilPlaced('taker')).toHaveLength(4);
    });
  },
);

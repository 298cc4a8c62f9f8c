import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { seed } from '#test/shared/domain/queue/builders.ts';
import { PATIENCE_MS, podOf, pods } from './queue-scene.ts';
import { reclaimScene, TEAM } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 120_000 };
const REPLICA_SETS = `/apis/apps/v1/namespaces/${TEAM}/replicasets`;
/** Several times the delay of a queue and the grace of a pod: whoever would go on for ever goes on. */
const REST_MS = 6_000;
const NO_GIVER = /^no queue below queue |outside the fence of queue /;

interface Sides {
  readonly [queueName: string]: number;
}

interface ReplicaSets {
  readonly given: {
    readonly podSize: number;
    readonly queues: readonly {
      readonly name: string;
      readonly guaranteed: number;
      readonly used: number;
      readonly pending: number;
    }[];
  };
  readonly then: readonly { readonly victims?: Sides; readonly used?: Sides; readonly pending?: Sides }[];
}

interface FencePicture {
  readonly given: { readonly tree: Readonly<Record<string, readonly string[]>>; readonly fences: readonly string[] };
  readonly then: { readonly victimQueues: Readonly<Record<string, readonly string[]>> };
}

describe.skipIf(why !== undefined)(`worked examples of reclaim on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = reclaimScene(own);
  beforeAll(() => scene.open(), 120_000);
  afterAll(() => scene.close());

  async function replicaSet(queue: string, replicas: number, cpu: number, graceSeconds = 1): Promise<void> {
    const labels = { app: queue, 'plimsoll.dev/queue': queue };
    const template = podOf('', { terminationGracePeriodSeconds: graceSeconds }, {}, String(cpu)) as {
      readonly spec: object;
    };
    await scene.create(REPLICA_SETS, {
      metadata: { name: queue },
      spec: {
        replicas,
        selector: { matchLabels: { app: queue } },
        template: { metadata: { labels }, spec: template.spec },
      },
    });
  }

  /** CPUs of pods on nodes, and of pods that wait, by queue. */
  async function amounts(podSize: number) {
    const [used, pending]: Record<string, number>[] = [{}, {}];
    for (const each of await scene.list()) {
      if (at(each, 'metadata.deletionTimestamp') !== undefined) continue;
      const queue = textAt(each, 'metadata.labels.app');
      const side = at(each, 'spec.nodeName') === undefined ? pending : used;
      if (side !== undefined) side[queue] = (side[queue] ?? 0) + podSize;
    }
    return { used, pending };
  }

  async function uidsOnNodes(): Promise<readonly string[]> {
    const bound = (await scene.list()).filter((each) => at(each, 'spec.nodeName') !== undefined);
    return bound.map((each) => textAt(each, 'metadata.uid')).sort();
  }

  test.each(['s2-27-1', 's2-27-2', 's2-27-3'])(
    '%s: two ReplicaSets end as in its table, and then rest (S2-27)',
    TEST,
    async (id) => {
      const { given, then } = seed(id) as ReplicaSets;
      const { podSize, queues } = given;
      const specs = queues.map(
        ({ name, guaranteed }) => [name.toLowerCase(), { guaranteed: { cpu: guaranteed } }] as const,
      );
      await scene.begin(Object.fromEntries(specs), []);
      for (const { name, used } of queues) await replicaSet(name.toLowerCase(), used / podSize, podSize);
      const sides = (of: 'used') => Object.fromEntries(queues.map((each) => [each.name.toLowerCase(), each[of]]));
      await eventually(async () => expect((await amounts(podSize)).used).toEqual(sides('used')), PATIENCE_MS);
      const before = await uidsOnNodes();
      for (const { name, used, pending } of queues) {
        const replicas = used / podSize + pending;
        await scene.user()('PATCH', `${REPLICA_SETS}/${name.toLowerCase()}`, { spec: { replicas } });
      }
      const last = then.findLast((step) => step.used !== undefined)?.used ?? {};
      const lowered = Object.fromEntries(Object.entries(last).map(([name, cpu]) => [name.toLowerCase(), cpu]));
      await eventually(async () => expect((await amounts(podSize)).used).toEqual(lowered), PATIENCE_MS);
      const settled = await uidsOnNodes();
      await letTimePass(REST_MS, 'watched');
      expect(await uidsOnNodes()).toEqual(settled);
      const victims = then.reduce((sum, step) => sum + (step.victims?.['Test'] ?? 0), 0);
      expect(before.filter((uid) => !settled.includes(uid))).toHaveLength(victims);
      expect(await scene.notes('Reclaimed')).toHaveLength(victims);
    },
  );

  test('the replacement of an evicted pod goes in before an older one of the same priority (S3-45)', TEST, async () => {
    await scene.begin({ only: {} }, []);
    await replicaSet('only', 4, 4, 4);
    await eventually(async () => expect((await amounts(4)).used).toEqual({ only: 16 }), PATIENCE_MS);
    await scene.createPod({ name: 'older', queue: 'only', labels: { app: 'older' } });
    const [evicted] = (await scene.list()).filter((each) => at(each, 'spec.nodeName') !== undefined);
    const name = textAt(evicted, 'metadata.name');
    await scene.runAsKubelet(name, systemClock.now());
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: TEAM } };
    await scene.create(`${pods(TEAM, name)}/eviction`, eviction);
    await eventually(async () => {
      expect(await uidsOnNodes()).not.toContain(at(evicted, 'metadata.uid'));
      expect(await amounts(4)).toEqual({ used: { only: 16 }, pending: { older: 4 } });
    }, PATIENCE_MS);
  });

  const { given, then } = seed('s2-36') as FencePicture;
  const named = (queue: string): string => queue.replaceAll(' ', '-').toLowerCase();
  const leaves = Object.keys(then.victimQueues);
  const takers = Object.entries(then.victimQueues).map(([name, givers]) => {
    return [name, givers.join(', ') || 'nobody', givers] as const;
  });

  test.each(takers)('a pod of %s takes from %s and no other queue (S2-36)', TEST, async (taker, _, givers) => {
    const queues = Object.entries(given.tree).flatMap(([parent, children]) =>
      children.map((name) => {
        const guaranteed = name === taker ? { guaranteed: { cpu: 16 } } : {};
        const above = parent === 'root' ? {} : { parent: named(parent) };
        const policy = given.fences.includes(name) ? { preemption: { policy: 'Fence' } } : {};
        return [named(name), { ...above, ...guaranteed, ...policy }] as const;
      }),
    );
    const victims = leaves.filter((leaf) => leaf !== taker);
    await scene.begin(
      Object.fromEntries(queues),
      victims.map((leaf) => ({ name: named(leaf), queue: named(leaf) })),
    );
    for (let index = 0; index < victims.length; index += 1) {
      await scene.createPod({ name: `taker-${index}`, queue: named(taker), application: 'taker' });
    }
    const stay = victims.filter((leaf) => !givers.includes(leaf)).map(named);
    const takers = async () => (await scene.onNodes()).filter((name) => name.startsWith('taker'));
    await eventually(async () => expect(await takers()).toHaveLength(givers.length), PATIENCE_MS);
    const placed = await takers();
    const waits = victims.map((_, index) => `taker-${index}`).find((name) => !placed.includes(name));
    if (waits !== undefined) expect((await scene.untilNoRoom(waits)).at(-1)).toMatch(NO_GIVER);
    expect(await scene.onNodes()).toEqual([...stay, ...placed].sort());
  });
});

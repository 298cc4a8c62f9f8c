import { beforeAll, describe, expect, test } from 'vitest';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { at } from '#test/contract/harness.ts';
import { PATIENCE_MS } from './removal-scene.ts';
import { reschedulingScene, type SeenPod } from './rescheduling-scene.ts';

/** Each with a policy of its own, since a policy moves five pods a pass. */
const POOLS = Array.from({ length: 20 }, (_, n) => `pool-${n}`);
/** Of each pool: full nodes, as many that are added, and owners of two pods that fill the full ones. */
const NODES = 4;
const OWNERS = 16;
const REPLICAS = 2;
const PODS = POOLS.length * OWNERS * REPLICAS;
const MOVES = 200;
const PERIOD_MS = 30_000;
const AT_ONCE = 8;
const TEST_MS = 180_000;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`two hundred moves with faults between them${why ?? ''}`, () => {
  const own = ownCluster();
  let isFilling = true;
  const scene = reschedulingScene(own, () => ({ ageMs: isFilling ? 3_600_000 : 0 }));
  const { pods, signal } = scene;
  let before: readonly SeenPod[] = [];
  let replicas: readonly SchedulerProcess[] = [];

  beforeAll(async () => {
    const { admin } = own();
    await makePools('old');
    const owners = POOLS.flatMap((pool) => Array.from({ length: OWNERS }, (_, n) => [pool, `${pool}-${n}`] as const));
    await inFlight(AT_ONCE, owners, ([pool, app]) => scene.createReplicas(app, REPLICAS, { nodeSelector: { pool } }));
    await eventually(async () => expect(await scene.countReadyReplicas()).toBe(PODS), TEST_MS);
    isFilling = false;
    await makePools('new');
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2 * NODES * POOLS.length), PATIENCE_MS);
    before = await pods();
    const start = () => scene.startAs('plimsoll-rescheduling', '--rescheduling-passes=On');
    replicas = [await start(), await start()];
  }, 2 * TEST_MS);

  async function makePools(kind: string): Promise<void> {
    await inFlight(AT_ONCE, POOLS, (pool) => makeFakeNodes(own().admin, `${pool}-${kind}`, NODES, { pool }));
  }

  /** Pods that were there before and are gone or leave, by owner. */
  async function moved(): Promise<ReadonlyMap<string, number>> {
    const staying = new Set((await pods()).filter(({ isLeaving }) => !isLeaving).map(({ uid }) => uid));
    const gone = before.filter(({ uid }) => !staying.has(uid));
    return new Map([...Map.groupBy(gone, ({ app }) => app)].map(([app, each]) => [app, each.length]));
  }

  const movedAtLeast = (count: number) =>
    eventually(async () => expect((await moved()).size).toBeGreaterThanOrEqual(count), TEST_MS);

  async function killLeader(): Promise<void> {
    const leads = (each: SchedulerProcess) => each.log().includes('Pod evicted to be placed better');
    expect(replicas.filter(leads)).toHaveLength(1);
    await replicas.find(leads)?.kill();
  }

  test(
    'all of them are made, no owner loses a second pod, and then it rests',
    async () => {
      const { cluster } = own();
      for (const pool of POOLS) {
        const underused = { low: { cpu: 45 }, target: { cpu: 65 } };
        const nodeSelector = { matchLabels: { pool } };
        await scene.createPolicy(pool, { mode: 'Enforce', nodeSelector, underused });
      }
      await movedAtLeast(30);
      await cluster.stop('kube-scheduler');
      await movedAtLeast(60);
      await cluster.start('kube-scheduler');
      await movedAtLeast(110);
      await killLeader();
      await movedAtLeast(MOVES);
      await eventually(async () => {
        const now = await pods();
        expect(now.filter(({ isLeaving, node }) => isLeaving || node === '')).toEqual([]);
        expect(now).toHaveLength(PODS);
        for (const pool of POOLS) expect(await scene.statusOf(pool)).toMatchObject({ planned: 0, moved: 0 });
      }, TEST_MS);
      expect([...(await moved()).values()].filter((count) => count > 1)).toEqual([]);
      const byNode = Map.groupBy(await pods(), ({ node }) => node);
      expect([...byNode.values()].filter((each) => each.length > 5)).toEqual([]);
      const settled = await moved();
      await letTimePass(PERIOD_MS, 'watched', signal);
      expect(await moved()).toEqual(settled);
    },
    TEST_MS,
  );
});

/** It packs nodes, which a rescheduler that evens them must not fight. */
const MOST_ALLOCATED = {
  profiles: [
    {
      schedulerName: 'default-scheduler',
      plugins: { score: { disabled: [{ name: '*' }], enabled: [{ name: 'NodeResourcesFit', weight: 1 }] } },
      pluginConfig: [
        {
          name: 'NodeResourcesFit',
          args: { scoringStrategy: { type: 'MostAllocated', resources: [{ name: 'cpu', weight: 1 }] } },
        },
      ],
    },
  ],
};

describe.skipIf(why !== undefined)(`a kube-scheduler that packs nodes${why ?? ''}`, () => {
  const own = ownCluster(() => Promise.resolve({ schedulerConfiguration: MOST_ALLOCATED }));
  let isFilling = true;
  const scene = reschedulingScene(own, () => ({ ageMs: isFilling ? 3_600_000 : 0 }));

  beforeAll(async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'old', 3);
    for (const app of ['a', 'b']) await scene.createReplicas(app, 11);
    await eventually(async () => expect(await scene.countReadyReplicas()).toBe(22), PATIENCE_MS);
    isFilling = false;
    await makeFakeNodes(admin, 'new', 3);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(6), PATIENCE_MS);
    await scene.startAs('plimsoll-rescheduling', '--rescheduling-passes=On');
  }, 120_000);

  test(
    'undoes the moves, and the rescheduler stops by itself and says so (S3-43)',
    async () => {
      const uids = async () => (await scene.pods()).map(({ uid }) => uid).sort();
      const before = await uids();
      await scene.createPolicy('even', { mode: 'Enforce', underused: { low: { cpu: 45 }, target: { cpu: 65 } } });
      await eventually(async () => {
        const status = await scene.statusOf('even');
        expect(at(status, 'stopped')).toHaveLength(2);
        expect(status).toMatchObject({ planned: 0, conditions: [{ type: 'SchedulerDisagrees', status: 'True' }] });
      }, TEST_MS);
      const after = await uids();
      const evicted = before.filter((uid) => !after.includes(uid)).length;
      expect(evicted).toBeGreaterThan(0);
      expect(evicted).toBeLessThanOrEqual(10);
      await letTimePass(PERIOD_MS, 'watched', scene.signal);
      expect(await uids()).toEqual(after);
    },
    TEST_MS,
  );
});

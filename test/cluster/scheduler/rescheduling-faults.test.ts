import { beforeAll, describe, expect, test } from 'vitest';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { inFlight } from '#test/cluster/support/in-flight.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { volume } from '#test/build/volume.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { PATIENCE_MS } from './removal-scene.ts';
import { reschedulingScene, type SeenPod } from './rescheduling-scene.ts';

/** Each with a policy of its own, since a policy moves five pods a pass. */
const POOLS = Array.from({ length: volume(17) }, (_, n) => `pool-${n}`);
/** Of each pool: full nodes, as many that are added, and owners of two pods that fill the full ones. */
const NODES = 4;
const OWNERS = 16;
const REPLICAS = 2;
const PODS = POOLS.length * OWNERS * REPLICAS;
/** 200 of 17 pools. */
const MOVES = Math.floor(11.8 * POOLS.length);
/** Nodes of eight CPUs with at most 65% of them requested. */
const MAX_ON_NODE = 5;
const MOVED = 'Pod evicted to be placed better';
const PERIOD_MS = 30_000;
const AT_ONCE = 8;
const TEST_MS = 180_000;
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`${MOVES} moves with faults between them${why ?? ''}`, () => {
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
    const start = () => scene.start('rescheduling');
    replicas = [await start(), await start()];
  }, 2 * TEST_MS);

  async function makePools(kind: string): Promise<void> {
    await inFlight(AT_ONCE, POOLS, (pool) => makeFakeNodes(own().admin, `${pool}-${kind}`, NODES, { pool }));
  }

  /** Moves of both replicas: their logs cost less than a list of all pods, and outlive the one that is killed. */
  const moves = (): number => replicas.reduce((sum, each) => sum + each.log().split(MOVED).length - 1, 0);

  const movedAtLeast = (count: number) => eventually(() => expect(moves()).toBeGreaterThanOrEqual(count), TEST_MS);

  /** How many pods each owner has lost. */
  async function losses(): Promise<readonly number[]> {
    const gone = await scene.goneFrom(before);
    return [...Map.groupBy(gone, ({ app }) => app).values()].map(({ length }) => length);
  }

  async function killLeader(): Promise<void> {
    const leads = (each: SchedulerProcess) => each.log().includes(MOVED);
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
      await movedAtLeast(0.15 * MOVES);
      await cluster.stop('kube-scheduler');
      await movedAtLeast(0.3 * MOVES);
      await cluster.start('kube-scheduler');
      await movedAtLeast(0.55 * MOVES);
      await killLeader();
      await movedAtLeast(MOVES);
      await eventually(async () => {
        for (const pool of POOLS) expect(await scene.statusOf(pool)).toMatchObject({ planned: 0, moved: 0 });
      }, TEST_MS);
      const settled = moves();
      await eventually(async () => {
        const now = await pods();
        expect(now.filter(({ isLeaving, node }) => isLeaving || node === '')).toEqual([]);
        expect(now).toHaveLength(PODS);
      }, PATIENCE_MS);
      const lost = await losses();
      // The leader that was killed may have made a move that it had not logged yet.
      expect([settled, settled + 1]).toContain(lost.length);
      expect(Math.max(...lost)).toBe(1);
      const onNodes = [...Map.groupBy(await pods(), ({ node }) => node).values()];
      expect(Math.max(...onNodes.map(({ length }) => length))).toBeLessThanOrEqual(MAX_ON_NODE);
      await letTimePass(PERIOD_MS, 'watched', signal);
      expect(moves()).toBe(settled);
    },
    TEST_MS,
  );
});

/** It packs nodes, which a rescheduler that evens them must not fight. */
const MAX_ALLOCATED = {
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
  const own = ownCluster(() => Promise.resolve({ schedulerConfiguration: MAX_ALLOCATED }));
  let isFilling = true;
  const scene = reschedulingScene(own, () => ({ ageMs: isFilling ? 3_600_000 : 0 }));

  /** Three nodes that are three quarters full: it fills one after the other, so each is closed before the next is there. */
  beforeAll(async () => {
    const { admin } = own();
    await scene.createReplicas('a', 0);
    for (const n of [0, 1, 2]) {
      await makeFakeNodes(admin, `old${n}`, 1);
      await scene.send('PATCH', '/apis/apps/v1/namespaces/default/replicasets/a', { spec: { replicas: 6 * (n + 1) } });
      await eventually(async () => expect(await scene.countReadyReplicas()).toBe(6 * (n + 1)), PATIENCE_MS);
      await close(n, true);
    }
    isFilling = false;
    for (const n of [0, 1, 2]) await close(n, false);
    await makeFakeNodes(admin, 'new', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(5), PATIENCE_MS);
    await scene.start('rescheduling');
  }, 120_000);

  async function close(n: number, unschedulable: boolean): Promise<void> {
    await scene.send('PATCH', `/api/v1/nodes/old${n}-0`, { spec: { unschedulable } });
  }

  test(
    'undoes the moves, and the rescheduler stops by itself and says so (S3-43)',
    async () => {
      const uids = async () => (await scene.pods()).map(({ uid }) => uid).sort();
      const before = await uids();
      await scene.createPolicy('even', { mode: 'Enforce', underused: { low: { cpu: 45 }, target: { cpu: 65 } } });
      await eventually(async () => {
        const status = await scene.statusOf('even');
        expect(status).toMatchObject({ stopped: [{ owner: 'default/ReplicaSet/a' }] });
        expect(status).toMatchObject({ planned: 0, conditions: [{ type: 'SchedulerDisagrees', status: 'True' }] });
      }, TEST_MS);
      const after = await uids();
      const evicted = before.filter((uid) => !after.includes(uid)).length;
      expect(evicted).toBeGreaterThan(0);
      expect(evicted).toBeLessThanOrEqual(6);
      await letTimePass(PERIOD_MS, 'watched', scene.signal);
      expect(await uids()).toEqual(after);
    },
    TEST_MS,
  );
});

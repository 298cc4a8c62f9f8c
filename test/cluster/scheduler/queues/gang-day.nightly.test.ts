import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { eventually } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { liveGangs, podCreator, PRIORITY_CLASSES } from './live-gangs.ts';
import { PATIENCE_MS, queueScene } from './queue-scene.ts';

/** `PLIMSOLL_GANG_SECONDS=60` for a short run; `PLIMSOLL_TEST_SEED` for other arrivals. */
const SECONDS = Number(process.env['PLIMSOLL_GANG_SECONDS'] ?? '800');
const SEED = Number(process.env['PLIMSOLL_TEST_SEED'] ?? '1');
const NODES = 40;
const KILLS = Math.ceil(SECONDS / 20);
const NODES_LOST = Math.ceil(SECONDS / 60);
const TEAM = 'team';
/** A gang may be in part for a minute while a leader leads; the next one leads once the Lease of the last one is over. */
const IN_PART_SECONDS = 60;
const LEADS = /^plimsoll_queue_leader 1$/m;
const why = whyNoOwnCluster(process.env);

/** Some 200 gangs and 2,000 single pods; kube-scheduler and the leader are killed twenty times each. */
describe.skipIf(why !== undefined)(`a day of gangs${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = queueScene(own);
  let leader: SchedulerProcess | undefined;
  /** When no leader led. */
  const gaps: { readonly from: number; to: number }[] = [];
  const leaderlessMs = (since: number): number =>
    gaps.reduce((sum, { from, to }) => sum + Math.max(0, Math.min(to, systemClock.now()) - Math.max(from, since)), 0);
  const replaceLeader = async (): Promise<void> => {
    const gap = { from: systemClock.now(), to: Infinity };
    gaps.push(gap);
    await leader?.kill();
    leader = await scene.startLeader();
    await eventually(async () => expect(await leader?.metrics()).toMatch(LEADS), PATIENCE_MS);
    gap.to = systemClock.now();
  };

  beforeAll(async () => {
    await scene.install();
    await scene.manage(TEAM, { team: TEAM });
    for (const metadataAndValue of PRIORITY_CLASSES)
      await scene.create('/apis/scheduling.k8s.io/v1/priorityclasses', metadataAndValue);
    await scene.queue('root', { reclaim: { mode: 'DryRun' } });
    await scene.queue('batch', { namespaceSelector: { matchLabels: { team: TEAM } } });
    await makeFakeNodes(own().admin, 'node', NODES);
    await eventually(async () => expect(await countReadyNodes(own().admin)).toBe(NODES), PATIENCE_MS);
    leader = await scene.startLeader();
  }, 180_000);
  afterAll(() => leader?.stop());

  test(
    'all finish, none is half of one for long, and no node is nominated beyond what it has',
    { timeout: (4 * SECONDS + 300) * 1_000 },
    async () => {
      const { longestPart, ...found } = await liveGangs({
        ...{ own: own(), seed: SEED, namespace: TEAM },
        ...{ nodes: NODES, seconds: SECONDS, load: 1, pace: 5, kills: KILLS, nodesLost: NODES_LOST },
        createPod: podCreator(scene, TEAM, 'batch'),
        ...{ replaceLeader, leaderlessMs },
        withinMs: (3 * SECONDS + 240) * 1_000,
      });
      console.info(JSON.stringify({ longestPart, ...found }));
      expect(found).toMatchObject({ overNominated: [], unfinished: [] });
      expect(longestPart).toBeLessThan(IN_PART_SECONDS);
    },
  );
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { makeFakeNode } from '#test/cluster/support/fake-nodes.ts';
import { liveGangs, podCreator, PRIORITY_CLASSES } from './live-gangs.ts';
import { gatesOf, PATIENCE_MS } from './queue-scene.ts';
import { reclaimScene, TEAM } from './reclaim-scene.ts';

const why = whyNoOwnCluster(process.env);
const TEST = { timeout: 90_000 };
const GANG = 'plimsoll.dev/gang';
/** The leader plans, nominates and lets in meanwhile. */
const WHILE_NOMINATING_MS = 60;

/** What comes in a quarter of a minute, with the nodes that it takes. */
const SHORT_DAY = { seed: 3, nodes: 16, seconds: 15, load: 1, pace: 20, kills: 2, nodesLost: 0 } as const;

/** Two nodes of 8 CPUs: four pairs of gang pods on each fill them. */
describe.skipIf(why !== undefined)(`gangs on the stock kube-scheduler${why ?? ''}`, () => {
  const own = ownCluster();
  const scene = reclaimScene(own, { mode: 'DryRun' });

  beforeAll(() => scene.open(), 120_000);
  afterAll(() => scene.close());

  function createMember(gang: string, size: number, index: number): Promise<void> {
    const labels = { [GANG]: gang, [`${GANG}-size`]: String(size) };
    return scene.createPod({ name: `${gang}-${index}`, queue: 'prod', cpu: '2', labels });
  }

  async function createGang(name: string, size: number, created = size): Promise<void> {
    await Promise.all(Array.from({ length: created }, (_, index) => createMember(name, size, index)));
  }

  const createSingles = (count: number): Promise<unknown> =>
    Promise.all(
      Array.from({ length: count }, (_, at) => scene.createPod({ name: `single-${at}`, queue: 'prod', cpu: '1' })),
    );

  /** Of the gang: without a gate, on a node, and nominated while the gate is on. */
  async function countsOf(name: string) {
    const own = (await scene.list()).filter((each) => textAt(each, 'metadata.name').startsWith(`${name}-`));
    const gated = own.filter((each) => gatesOf(each).length > 0);
    const bound = own.filter((each) => at(each, 'spec.nodeName') !== undefined);
    const nominated = gated.filter((each) => at(each, 'status.nominatedNodeName') !== undefined);
    return { in: own.length - gated.length, bound: bound.length, nominated: nominated.length };
  }

  const untilWhole = (name: string, size: number): Promise<void> =>
    eventually(async () => expect(await countsOf(name)).toEqual({ in: size, bound: size, nominated: 0 }), PATIENCE_MS);

  async function restartScheduler(): Promise<void> {
    await own().cluster.stop('kube-scheduler');
    await own().cluster.start('kube-scheduler');
  }

  test(
    'eight of eight start beside 24 equal pods, which get what is left; nine of which eight fit never start',
    TEST,
    async () => {
      await scene.begin({ prod: {} }, []);
      await createGang('nine', 9);
      await createGang('eight', 8);
      await createSingles(24);
      await untilWhole('eight', 8);
      expect(await countsOf('nine')).toEqual({ in: 0, bound: 0, nominated: 0 });
      const nodes = (await scene.list()).map((each) => at(each, 'spec.nodeName')).filter((node) => node !== undefined);
      expect([...Map.groupBy(nodes, String).values()].map(({ length }) => length)).toEqual([4, 4]);
      await eventually(async () => {
        const said = at(await scene.get('nine-0'), 'status.conditions') as readonly unknown[];
        expect(said.map((each) => at(each, 'message'))).toContainEqual(expect.stringContaining('waits for 18 cpu'));
      }, PATIENCE_MS);
    },
  );

  test('one that waits for its last pod lets the others pass, and starts when it has come', TEST, async () => {
    await scene.begin({ prod: {} }, []);
    await createGang('late', 4, 3);
    await createSingles(8);
    await eventually(async () => expect(await scene.onNodes()).toHaveLength(8), PATIENCE_MS);
    expect(await countsOf('late')).toEqual({ in: 0, bound: 0, nominated: 0 });
    await createMember('late', 4, 3);
    await untilWhole('late', 4);
  });

  test('whole, though the leader is killed while it starts', TEST, async () => {
    await scene.begin({ prod: {} }, []);
    await createGang('train', 8, 7);
    await Promise.all([
      createMember('train', 8, 7),
      letTimePass(WHILE_NOMINATING_MS, 'unseen').then(() => scene.replaceLeader()),
    ]);
    await untilWhole('train', 8);
  });

  test('whole, though kube-scheduler restarts while it starts', TEST, async () => {
    await scene.begin({ prod: {} }, []);
    await createGang('train', 8);
    await Promise.all([createSingles(24), letTimePass(WHILE_NOMINATING_MS, 'unseen').then(restartScheduler)]);
    await untilWhole('train', 8);
  });

  test(
    'beside single pods all finish, none half of one for long, though leader and kube-scheduler are killed',
    TEST,
    async () => {
      await scene.begin({ prod: {} }, []);
      for (const each of PRIORITY_CLASSES) await scene.create('/apis/scheduling.k8s.io/v1/priorityclasses', each);
      for (let index = 2; index < SHORT_DAY.nodes; index += 1) await makeFakeNode(own().admin, `node-${index}`);
      const createPod = podCreator(scene, TEAM, 'prod');
      const { longestPart, ...found } = await liveGangs({
        ...{ ...SHORT_DAY, own: own(), namespace: TEAM, createPod },
        ...{ replaceLeader: () => scene.replaceLeader(), withinMs: 75_000 },
      });
      expect(found).toMatchObject({ overNominated: [], unfinished: [] });
      expect(longestPart).toBeLessThan(60);
    },
  );
});

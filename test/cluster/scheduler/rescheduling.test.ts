import { beforeAll, describe, expect, test } from 'vitest';
import { at, textAt } from '#test/contract/harness.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';
import { PATIENCE_MS, podPath } from './removal-scene.ts';
import { reschedulingScene } from './rescheduling-scene.ts';

/** The least that a policy may say. */
const PERIOD_MS = 30_000;
const JOB = '/apis/batch/v1/namespaces/default/jobs';
/** Owners with their replicas of one CPU each: with the two pods of a Job all of two nodes. */
const OWNERS = [
  ['a', 2],
  ['b', 2],
  ['c', 3],
  ['d', 3],
  ['kept', 2],
  ['local', 2],
] as const;
const why = whyNoOwnCluster(process.env);

/** kube-scheduler itself places the replacements, and controllers of kube-controller-manager make them. */
describe.skipIf(why !== undefined)(`the rescheduler${why ?? ''}`, () => {
  const own = ownCluster();
  let areOldNodesOnly = true;
  /** Pods of the first nodes have run for an hour, others start when they are placed. */
  const scene = reschedulingScene(own, () => ({ ageMs: areOldNodesOnly ? 3_600_000 : 0 }));
  const { send, pods, statusOf, signal } = scene;

  beforeAll(async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'old', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(2), PATIENCE_MS);
    // One process with every part, as it is installed.
    await scene.start('everything');
  }, 120_000);

  /** It fails for good with the first pod that is removed. */
  async function createJob(): Promise<void> {
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: '1' } } }];
    const template = { metadata: { labels: { app: 'job' } }, spec: { containers, restartPolicy: 'Never' } };
    await send('POST', JOB, { metadata: { name: 'job' }, spec: { parallelism: 2, backoffLimit: 0, template } });
  }

  /** Each as a rescheduling that makes room for nobody (S0-30), and why. */
  async function expectRecords(uids: readonly string[]): Promise<void> {
    const [requestedBy, cause] = ['plimsoll-rescheduling', 'Rescheduling'];
    const because = { code: 'NodeOverTarget', text: expect.stringMatching(/^node old-\d is at \d/) as string };
    const decision = expect.stringMatching(/^[0-9a-f]{12}$/) as string;
    await eventually(async () => {
      const records = await scene.records();
      expect(records.map((each) => textAt(each, 'spec.podUID')).sort()).toEqual([...uids].sort());
      for (const each of records) expect(each).toMatchObject({ spec: { cause, requestedBy, because, decision } });
      expect(records.filter((each) => at(each, 'spec.madeRoomFor') !== undefined)).toEqual([]);
    }, PATIENCE_MS);
  }

  test('a dry run says what it would move and evicts no pod', async () => {
    const local = { volumes: [{ name: 'cache', emptyDir: {} }] };
    for (const [app, replicas] of OWNERS) await scene.createReplicas(app, replicas, app === 'local' ? local : {});
    await createJob();
    const budget = {
      metadata: { name: 'kept' },
      spec: { minAvailable: 2, selector: { matchLabels: { app: 'kept' } } },
    };
    await send('POST', '/apis/policy/v1/namespaces/default/poddisruptionbudgets', budget);
    const alone = { containers: [{ name: 'main', image: 'registry.test/idle:1' }], nodeName: 'old-0' };
    await send('POST', podPath(), { metadata: { name: 'alone', labels: { app: 'alone' } }, spec: alone });
    await eventually(async () => {
      const placed = await pods();
      expect(placed.filter(({ node }) => node.startsWith('old-'))).toHaveLength(17);
    }, PATIENCE_MS);
    await eventually(async () => expect(await scene.countReadyReplicas()).toBe(14), PATIENCE_MS);
    areOldNodesOnly = false;
    const { admin } = own();
    await makeFakeNodes(admin, 'new', 2);
    await makeFakeNodes(admin, 'closed', 1);
    await send('PATCH', '/api/v1/nodes/closed-0', { spec: { unschedulable: true } });
    await eventually(async () => expect(await countReadyNodes(admin)).toBeGreaterThanOrEqual(4), PATIENCE_MS);
    const before = await pods();
    await scene.createPolicy('even', { underused: { low: { cpu: 45 }, target: { cpu: 65 } } });
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 4, moved: 0 }), PATIENCE_MS);
    expect(await statusOf('even')).toMatchObject({ mode: 'DryRun', lastPass: expect.any(String) as unknown });
    expect(await pods()).toEqual(before);
  }, 60_000);

  test('added nodes get pods by evictions within budget, kube-scheduler places the replacements, and then it rests (S0-30, S3-1, S3-37, S3-41, S3-47)', async () => {
    const before = await pods();
    await scene.changePolicy('even', { mode: 'Enforce' });
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 4, moved: 4 }), PATIENCE_MS);
    await eventually(async () => {
      const placed = await pods();
      expect(placed.filter(({ isLeaving, node }) => isLeaving || node === '')).toEqual([]);
      expect(placed.filter(({ node }) => node.startsWith('new-'))).toHaveLength(4);
      expect(placed).toHaveLength(17);
    }, PATIENCE_MS);
    const after = await pods();
    const staying = new Set(after.map(({ uid }) => uid));
    const moved = before.filter(({ uid }) => !staying.has(uid));
    expect(moved.map(({ app }) => app).sort()).toEqual(['a', 'b', 'c', 'd']);
    expect(after.filter(({ node }) => node === 'closed-0')).toEqual([]);
    expect(at(await send('GET', `${JOB}/job`), 'status')).toMatchObject({ active: 2, ready: 2 });
    await expectRecords(moved.map(({ uid }) => uid));
    await letTimePass(PERIOD_MS, 'watched', signal);
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 0, moved: 0 }), PATIENCE_MS);
    expect((await pods()).map(({ uid }) => uid).sort()).toEqual([...staying].sort());
  }, 90_000);
});

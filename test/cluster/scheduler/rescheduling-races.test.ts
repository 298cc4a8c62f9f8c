import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '#shared/runtime/clock.ts';
import { evictPod } from '#shared/kube/events/evict-pod.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes, makeFakeNodes } from '#test/cluster/support/fake-nodes.ts';
import { ADMISSION } from '#test/contract/webhook-registrar.ts';
import { webhookReceiver, type WebhookReceiver } from '#test/contract/webhook-receiver.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import { eventually } from '#test/build/waiting.ts';
import { asking, PATIENCE_MS, podPath } from './removal-scene.ts';
import { reschedulingScene, type SeenPod } from './rescheduling-scene.ts';

/** Three owners of two pods fill six of eight CPUs of the old node, and a pod without an owner the seventh. */
const OWNERS = ['a', 'b', 'c'];
const OLD = 'old-0';
/** They come past kube-scheduler, as pods of a DaemonSet or of another scheduler do, and leave no room. */
const TAKERS = [
  ['on-old', OLD, '2'],
  ['on-new-0', 'new-0', '8'],
  ['on-new-1', 'new-1', '8'],
] as const;
const HEARD = /plimsoll_reflector_last_event_timestamp_seconds\{[^}]*resource="pods"\} (?<seconds>[\d.e+]+)/;
const PASSES_MS = 90_000;
const why = whyNoOwnCluster(process.env);

/** The API server asks a webhook of the test about each eviction, which answers once the cluster has changed. */
describe.skipIf(why !== undefined)(`pods that are moved while others come${why ?? ''}`, () => {
  const own = ownCluster();
  let isFilling = true;
  const scene = reschedulingScene(own, () => ({ ageMs: isFilling ? 3_600_000 : 0 }));
  const { send, pods, statusOf } = scene;
  let receiver: WebhookReceiver;
  let rescheduler: SchedulerProcess;
  let before: readonly SeenPod[] = [];
  let periodSeconds = 60;
  afterAll(() => receiver.close());

  beforeAll(async () => {
    const { admin } = own();
    await makeFakeNodes(admin, 'old', 1);
    for (const app of OWNERS) await scene.createReplicas(app, 2);
    await bind('alone', OLD, '1');
    await eventually(async () => expect(await scene.countReadyReplicas()).toBe(6), PATIENCE_MS);
    isFilling = false;
    await makeFakeNodes(admin, 'new', 2);
    await eventually(async () => expect(await countReadyNodes(admin)).toBe(3), PATIENCE_MS);
    before = await pods();
    receiver = await webhookReceiver();
    receiver.on('/evictions', () => ({ allowed: true }));
    await askAboutEvictions();
    rescheduler = await scene.start('rescheduling');
  }, 120_000);

  async function bind(name: string, nodeName: string, cpu: string): Promise<void> {
    const spec = { ...asking(cpu), nodeName, terminationGracePeriodSeconds: 1 };
    await send('POST', podPath(), { metadata: { name, labels: { app: name } }, spec });
  }

  async function askAboutEvictions(): Promise<void> {
    const entry = {
      name: 'evictions.plimsoll.dev',
      clientConfig: receiver.clientConfig('/evictions'),
      rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
      timeoutSeconds: 30,
    };
    const body = { metadata: { name: 'evictions' }, webhooks: [entry] };
    await send('POST', `${ADMISSION}/validatingwebhookconfigurations`, body);
    await eventually(async () => {
      await evictPod(own().admin, { namespace: 'default', name: 'alone', uid: uidOf('alone'), dryRun: true });
      expect(receiver.received).not.toEqual([]);
    }, PATIENCE_MS);
  }

  function uidOf(app: string): string {
    return before.find((each) => each.app === app)?.uid ?? '';
  }

  /** The owners of the pods that were evicted, in order. */
  async function losers(): Promise<readonly string[]> {
    return (await scene.goneFrom(before)).map(({ app }) => app).sort();
  }

  /** The next pass, without waiting for its time: a policy that was changed is due at once. */
  async function makePass(): Promise<void> {
    periodSeconds += 1;
    await scene.changePolicy('even', { schedule: { period: `${periodSeconds}s` } });
  }

  /** It shows at most once a second when it heard of a pod, so one is changed until it does. */
  async function hasHeardSince(ms: number): Promise<void> {
    await eventually(async () => {
      await send('PATCH', podPath('default', 'alone'), { metadata: { labels: { at: String(systemClock.now()) } } });
      const seconds = Number(HEARD.exec(await rescheduler.metrics())?.groups?.['seconds']);
      expect(seconds * 1_000).toBeGreaterThan(ms);
    }, PATIENCE_MS);
  }

  test('the pods of a node change before an eviction: a move that has no room left is not made (S3-33)', async () => {
    const changed = Promise.withResolvers<object>();
    receiver.received.length = 0;
    receiver.on('/evictions', () => changed.promise);
    await scene.createPolicy('even', { mode: 'Enforce', underused: { low: { cpu: 45 }, target: { cpu: 65 } } });
    await eventually(() => expect(receiver.received).toHaveLength(1), PASSES_MS);
    for (const [name, node, cpu] of TAKERS) await bind(name, node, cpu);
    await hasHeardSince(systemClock.now());
    changed.resolve({ allowed: true });
    await eventually(async () => expect(await statusOf('even')).toMatchObject({ planned: 2, moved: 1 }), PATIENCE_MS);
    expect(rescheduler.log()).toMatch(/"kind":"outdated","message":"other pods have taken the room on node new-\d"/);
    expect(receiver.received).toHaveLength(1);
    expect(await losers()).toHaveLength(1);
  }, 120_000);

  test('another pod takes the room: the replacement is waited for, and its owner loses no other pod (S3-33)', async () => {
    const [owner = ''] = await losers();
    await makePass();
    const reason = {
      code: 'ReplacementPending',
      example: expect.stringContaining(`of default/ReplicaSet/${owner} `) as string,
    };
    await eventually(
      async () =>
        expect(await statusOf('even')).toMatchObject({
          planned: 0,
          left: expect.arrayContaining([expect.objectContaining(reason)]) as unknown,
        }),
      PASSES_MS,
    );
    const ofOwner = (await pods()).filter(({ app, isLeaving }) => app === owner && !isLeaving);
    expect(ofOwner.map(({ node }) => node).sort()).toEqual(['', OLD]);
  }, 120_000);

  test('the eviction was not enough: more are made where there is room again, none of the owner that has lost one (S3-33)', async () => {
    for (const name of ['on-new-0', 'on-new-1']) await send('DELETE', podPath('default', name));
    await eventually(async () => expect((await pods()).filter(({ node }) => node === '')).toEqual([]), PATIENCE_MS);
    await hasHeardSince(systemClock.now());
    await makePass();
    await eventually(async () => expect(await losers()).toEqual(OWNERS), PASSES_MS);
    await eventually(async () => {
      const placed = (await pods()).filter(({ isLeaving }) => !isLeaving);
      const ofOld = placed.filter(({ node }) => node === OLD).map(({ app }) => app);
      expect(ofOld.sort()).toEqual([...OWNERS, 'alone', 'on-old'].sort());
      expect(placed.filter(({ node }) => node.startsWith('new-'))).toHaveLength(3);
    }, PATIENCE_MS);
    await makePass();
    await eventually(async () => {
      const obstacle = expect.stringContaining('OwnerWindow') as string;
      expect(await statusOf('even')).toMatchObject({ planned: 0, overTarget: [{ node: OLD, obstacle }] });
    }, PASSES_MS);
  }, 120_000);
});

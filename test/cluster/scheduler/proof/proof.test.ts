import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { freePorts } from '#test/cluster/support/free-ports.ts';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { at, pod } from '#test/contract/harness.ts';
import { installShippedSet, startShipped } from '#test/cluster/support/shipped-set.ts';
import type { SchedulerProcess } from '#test/scheduler/scheduler-process.ts';
import type { Given } from '#test/shared/domain/preemption/seed-cluster.ts';
import { untilKnown } from '#test/cluster/scheduler/ask-extender.ts';
import { CLASSES, classOf, PODS, type SeedStage, seedStage } from '#test/cluster/scheduler/seed-stage.ts';
import { eventually } from '#test/build/waiting.ts';
import { byClaim, byResource, deviceClass, type DeviceNeed, deviceOn } from './devices.ts';

const PATIENCE_MS = 30_000;
/** The minute of a nomination, and what the first question and the last try take. */
const NOMINATION_MS = 85_000;
const DRIVER = 'csi.test';
const PVS = '/api/v1/persistentvolumes';
const CLAIMS = '/api/v1/namespaces/default/persistentvolumeclaims';
/** The class of this priority opted out of preemption. */
const PROTECTED = 1;
/** Ways to ask for a device, each by the name of its scenario. */
const DEVICE_NEEDS: readonly (readonly [string, string, (name: string) => DeviceNeed])[] = [
  ['a claimed device', 'claim', byClaim],
  ['an extended resource of a DeviceClass', 'card', byResource],
];
const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`kube-scheduler's proposal, taken as a proof${why ?? ''}`, () => {
  let port = 0;
  let extender: SchedulerProcess;
  const own = ownCluster(async () => {
    [port = 0] = await freePorts(1);
    const verbs = { preemptVerb: 'preempt', filterVerb: 'filter' };
    const entry = { urlPrefix: `http://127.0.0.1:${port}`, ...verbs, nodeCacheCapable: true };
    return { schedulerConfiguration: { extenders: [{ ...entry, ignorable: true, httpTimeout: '5s' }] } };
  });

  beforeAll(async () => {
    const metadata = { name: classOf(PROTECTED), annotations: { 'plimsoll.dev/allow-preemption': 'false' } };
    await send('POST', CLASSES, { metadata, value: PROTECTED });
    await make(deviceClass());
    await installShippedSet(own());
    extender = await startShipped(own(), 'control-plane-extender', [], { port });
  }, 60_000);
  afterAll(() => extender.stop());

  async function send(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object = {}): Promise<unknown> {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const outcome = await own().admin.request({ method, path, contentType, body });
    expect(outcome).toMatchObject({ kind: 'ok' });
    return at(outcome, 'object');
  }

  const make = ({ path, body }: ReturnType<typeof deviceClass>): Promise<unknown> => send('POST', path, body);

  async function build(id: string, given: Given): Promise<SeedStage> {
    const stage = seedStage(own(), id, given);
    await stage.build();
    await eventually(async () => {
      const ready = await countReadyNodes(own().admin, { labelSelector: `example=${id}` });
      expect(ready).toBe(given.nodes.length);
    }, PATIENCE_MS);
    for (const { name } of given.nodes) await untilKnown({ admin: own().admin, port }, stage.nodeName(name));
    return stage;
  }

  /** A pod of the example with parts that worked examples do not have. */
  const create = (id: string, name: string, spec: object): Promise<unknown> =>
    eventually(() =>
      send(
        'POST',
        PODS,
        pod(
          `${id}-${name}`,
          { schedulerName: 'default-scheduler', nodeSelector: { example: id }, ...spec },
          { labels: { example: id, seed: name } },
        ),
      ),
    );

  const requesting = (cpu: number) => [
    { name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: String(cpu) } } },
  ];
  const becomes = (stage: SeedStage, moment: object): Promise<void> =>
    eventually(async () => expect(await stage.seen()).toMatchObject(moment), PATIENCE_MS);
  const delet = (id: string, name: string): Promise<unknown> => send('DELETE', `${PODS}/${id}-${name}`);

  async function createVolume(id: string, name: string): Promise<object> {
    const claim = `${id}-${name}`;
    const shared = { accessModes: ['ReadWriteOnce'], storageClassName: '' };
    await send('POST', PVS, {
      metadata: { name: claim },
      spec: {
        ...shared,
        capacity: { storage: '1Gi' },
        csi: { driver: DRIVER, volumeHandle: claim },
        claimRef: { namespace: 'default', name: claim },
      },
    });
    const spec = { ...shared, volumeName: claim, resources: { requests: { storage: '1Gi' } } };
    await send('POST', CLAIMS, { metadata: { name: claim }, spec });
    await eventually(async () => {
      expect(at(await own().admin.request({ path: `${CLAIMS}/${claim}` }), 'object.status.phase')).toBe('Bound');
    }, PATIENCE_MS);
    return { name, persistentVolumeClaim: { claimName: claim } };
  }

  test('a volume that cannot be attached takes no other pod in the place of a protected one', async () => {
    const id = 'csi';
    const others = [
      { name: 'beside', node: 'a', priority: 5, request: 2 },
      { name: 'filler', node: 'a', priority: 1_000, request: 4 },
    ];
    const stage = await build(id, { nodes: [{ name: 'a', capacity: 8 }], running: others });
    const node = stage.nodeName('a');
    const drivers = [{ name: DRIVER, nodeID: node, allocatable: { count: 1 } }];
    await send('POST', '/apis/storage.k8s.io/v1/csinodes', { metadata: { name: node }, spec: { drivers } });
    const [held, wanted] = [await createVolume(id, 'held'), await createVolume(id, 'wanted')];
    const priorityClassName = classOf(PROTECTED);
    await create(id, 'holder', { nodeName: node, priorityClassName, containers: requesting(2), volumes: [held] });
    await create(id, 'incoming', { priorityClassName: classOf(1_000), containers: requesting(2), volumes: [wanted] });
    await eventually(() => {
      expect(extender.log()).toMatch(/"node":"csi-a-0","verdict":"removed","code":"ProtectedOptOut"/);
      return Promise.resolve();
    }, PATIENCE_MS);
    await becomes(stage, { pending: ['incoming'], terminating: [], nominated: {} });
    expect(await stage.here()).toEqual(['beside', 'filler', 'holder']);
  }, 120_000);

  /** Node `a` has the device; on `b`, which has none, less important pods could go. */
  async function buildDevices(id: string, running: Given['running']): Promise<SeedStage> {
    const least = { name: 'least', node: 'b', priority: 2, request: 8 };
    const nodes = ['a', 'b'].map((name) => ({ name, capacity: 8 }));
    const stage = await build(id, { nodes, running: [...running, least] });
    await make(deviceOn(stage.nodeName('a')));
    return stage;
  }

  async function createWithDevice(id: string, needOf: (name: string) => DeviceNeed): Promise<void> {
    const { objects, spec, claims, amounts } = needOf(`${id}-incoming`);
    for (const each of objects) await make(each);
    const resources = { requests: { cpu: '2', ...amounts }, limits: amounts, claims };
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources }];
    await create(id, 'incoming', { priorityClassName: classOf(1_000), ...spec, containers });
  }

  const besideProtected: Given['running'] = [
    { name: 'beside', node: 'a', priority: 5, request: 2 },
    { name: 'filler', node: 'a', priority: 1_000, request: 4 },
    { name: 'protected', node: 'a', priority: PROTECTED, request: 2 },
  ];

  test('a claimed device lets another pod without one be taken in the place of a protected one', async () => {
    const id = 'stay-claim';
    const stage = await buildDevices(id, besideProtected);
    await createWithDevice(id, byClaim);
    await becomes(stage, { nominated: { incoming: 'a' }, terminating: ['beside'] });
    await stage.end('beside');
    await becomes(stage, { bound: { incoming: 'a' }, terminating: [] });
    expect(await stage.here()).toEqual(['filler', 'incoming', 'least', 'protected']);
  }, 120_000);

  test('an extended resource of a DeviceClass lets no other pod be taken in the place of a protected one', async () => {
    const id = 'stay-card';
    const stage = await buildDevices(id, besideProtected);
    await createWithDevice(id, byResource);
    await eventually(() => {
      expect(extender.log()).toMatch(new RegExp(`"node":"${id}-a-0","verdict":"removed","code":"ProtectedOptOut"`));
      return Promise.resolve();
    }, PATIENCE_MS);
    await becomes(stage, { pending: ['incoming'], terminating: [], nominated: {} });
    expect(await stage.here()).toEqual(['beside', 'filler', 'least', 'protected']);
  }, 120_000);

  test.each(DEVICE_NEEDS)(
    '%s keeps no pod waiting for one that terminates: the proposal stands',
    async (_, kind, needOf) => {
      const id = `stand-${kind}`;
      const stage = await buildDevices(id, [
        { name: 'ending', node: 'a', priority: 8, request: 4 },
        { name: 'proposed', node: 'a', priority: 5, request: 4 },
      ]);
      await delet(id, 'ending');
      await becomes(stage, { terminating: ['ending'] });
      await createWithDevice(id, needOf);
      await becomes(stage, { nominated: { incoming: 'a' }, terminating: ['ending', 'proposed'] });
      await stage.end('proposed');
      await becomes(stage, { bound: { incoming: 'a' }, terminating: ['ending'] });
      expect(await stage.here()).toEqual(['ending', 'incoming', 'least']);
      expect(extender.log()).not.toMatch(new RegExp(`"pod":"default/${id}-incoming"[^\n]*"Preemption reviewed"`));
    },
    120_000,
  );

  test('a pod that takes an hour to terminate keeps no pod of system priority waiting', async () => {
    const running = [
      { name: 'slow', node: 'a', priority: 100, request: 4, graceSeconds: 3_600 },
      { name: 'quick', node: 'a', priority: 5, request: 4, graceSeconds: 0 },
    ];
    const stage = await build('hour', { nodes: [{ name: 'a', capacity: 8 }], running });
    await delet('hour', 'slow');
    await becomes(stage, { terminating: ['slow'] });
    await create('hour', 'critical', { priorityClassName: 'system-cluster-critical', containers: requesting(4) });
    await becomes(stage, { bound: { critical: 'a' }, terminating: ['slow'] });
    expect(await stage.here()).toEqual(['critical', 'slow']);
  }, 120_000);

  test('a terminating pod does not lead the preemption to a more important pod on another node', async () => {
    const running = [
      { name: 'ending', node: 'a', priority: 8, request: 4 },
      { name: 'least', node: 'a', priority: 5, request: 4 },
      { name: 'more', node: 'b', priority: 6, request: 8 },
    ];
    const nodes = ['a', 'b'].map((name) => ({ name, capacity: 8 }));
    const stage = await build('dear', { nodes, running });
    await delet('dear', 'ending');
    await becomes(stage, { terminating: ['ending'] });
    await stage.create({ name: 'incoming', priority: 1_000, request: 4 });
    await becomes(stage, { nominated: { incoming: 'a' }, terminating: ['ending'] });
    await stage.end('ending');
    await becomes(stage, { bound: { incoming: 'a' }, terminating: [] });
    expect(await stage.here()).toEqual(['incoming', 'least', 'more']);
  }, 120_000);

  test('a pod that was put off for a terminating pod which hangs may preempt some seconds later', async () => {
    const running = [
      { name: 'hanging', node: 'a', priority: 8, request: 4, graceSeconds: 1 },
      { name: 'least', node: 'a', priority: 5, request: 4 },
    ];
    const stage = await build('hang', { nodes: [{ name: 'a', capacity: 8 }], running });
    await delet('hang', 'hanging');
    await becomes(stage, { terminating: ['hanging'] });
    await stage.create({ name: 'incoming', priority: 1_000, request: 4 });
    await becomes(stage, { nominated: { incoming: 'a' }, terminating: ['hanging'] });
    await becomes(stage, { nominated: { incoming: 'a' }, terminating: ['hanging', 'least'] });
    await stage.end('least');
    await becomes(stage, { bound: { incoming: 'a' } });
    expect(await stage.here()).toEqual(['hanging', 'incoming']);
    expect(extender.log()).toMatch(
      /"pod":"default\/hang-incoming","node":"hang-a-0","msg":"Voided nomination cleared"/,
    );
  }, 120_000);

  test('a nomination by hand ends after a minute, whatever changes in its pod', async () => {
    const nodes = [{ name: 'a', capacity: 8 }];
    const stage = await build('hand', { nodes, running: [] });
    await stage.create({ name: 'first', priority: 1_000, request: 1 });
    await becomes(stage, { bound: { first: 'a' } });
    const byHand = { schedulerName: 'none', priorityClassName: classOf(1_000), containers: requesting(7) };
    await create('hand', 'nominated', byHand);
    await send('PATCH', `${PODS}/hand-nominated/status`, { status: { nominatedNodeName: stage.nodeName('a') } });
    await stage.create({ name: 'incoming', priority: 1_000, request: 4 });
    await eventually(async () => {
      const found = await own().admin.request({ path: `${PODS}/hand-incoming` });
      expect(at(found, 'object.status.conditions.0.message')).toContain('the room is set aside for a pending pod');
    }, PATIENCE_MS);
    let round = 0;
    await eventually(async () => {
      round += 1;
      await send('PATCH', `${PODS}/hand-nominated`, { metadata: { labels: { round: String(round) } } });
      const poke = { nodeName: stage.nodeName('a'), containers: requesting(0), terminationGracePeriodSeconds: 0 };
      await send('POST', PODS, pod(`poke-${round}`, poke));
      await send('DELETE', `${PODS}/poke-${round}`);
      expect((await stage.seen()).bound).toEqual({ first: 'a', incoming: 'a' });
    }, NOMINATION_MS);
  }, 150_000);
});

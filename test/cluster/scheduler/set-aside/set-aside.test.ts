import { describe, expect, test } from 'vitest';
import { ownCluster, whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { countReadyNodes } from '#test/cluster/support/fake-nodes.ts';
import { untilKnown } from '#test/cluster/scheduler/ask-extender.ts';
import { namedVictims } from '#test/cluster/scheduler/recorded-questions.ts';
import { classOf, CLASSES, type Moment, PODS, type SeedStage, seedStage } from '#test/cluster/scheduler/seed-stage.ts';
import { at } from '#test/contract/harness.ts';
import { eventually } from '#test/build/waiting.ts';
import type { Given } from '#test/shared/domain/preemption/seed-cluster.ts';
import { OURS, secondWithExtender } from './second-with-extender.ts';

const DAEMON_SETS = '/apis/apps/v1/namespaces/default/daemonsets';
const PATIENCE_MS = 60_000;
const why = whyNoOwnCluster(process.env);

/** The kube-scheduler of the control plane knows no extender; a second one asks it. */
describe.skipIf(why !== undefined)(`room that is set aside, by two kube-schedulers${why ?? ''}`, () => {
  const own = ownCluster();
  const second = secondWithExtender(own);

  async function build(id: string, given: Given): Promise<{ ours: SeedStage; others: SeedStage }> {
    const others = seedStage(own(), id, given);
    await others.build();
    await eventually(async () => {
      expect(await countReadyNodes(own().admin, { labelSelector: `example=${id}` })).toBe(given.nodes.length);
    }, PATIENCE_MS);
    for (const { name } of given.nodes)
      await untilKnown({ admin: own().admin, port: second().port }, others.nodeName(name));
    return { ours: seedStage(own(), id, given, OURS), others };
  }

  const becomes = (stage: SeedStage, moment: Partial<Moment>) =>
    eventually(async () => expect(await stage.seen()).toMatchObject(moment), PATIENCE_MS);
  const logs = (line: RegExp) => eventually(() => expect(second().extender.log()).toMatch(line), PATIENCE_MS);

  async function createClass(value: number, annotations: object = {}): Promise<void> {
    const body = { metadata: { name: classOf(value), annotations }, value };
    await own().admin.request({ method: 'POST', path: CLASSES, body });
  }

  /** A DaemonSet on the nodes of an example, for the scheduler that asks the extender. */
  async function createDaemonSet(id: string, { priority, cpu }: { priority: number; cpu: number }): Promise<void> {
    await createClass(priority);
    const priorityClassName = classOf(priority);
    const labels = { example: id, seed: 'daemon' };
    const containers = [{ name: 'main', image: 'registry.test/idle:1', resources: { requests: { cpu: String(cpu) } } }];
    const spec = { schedulerName: OURS, priorityClassName, nodeSelector: { example: id }, containers };
    const body = {
      metadata: { name: `${id}-daemon` },
      spec: { selector: { matchLabels: labels }, template: { metadata: { labels }, spec } },
    };
    expect(await own().admin.request({ method: 'POST', path: DAEMON_SETS, body })).toMatchObject({ kind: 'ok' });
  }

  /** The pod was tried, and kept from the room. */
  const isKeptOut = (id: string, name: string) =>
    eventually(async () => {
      const found = await own().admin.request({ path: `${PODS}/${id}-${name}` });
      expect(at(found, 'object.spec.nodeName')).toBeUndefined();
      expect(at(found, 'object.status.conditions.0.message')).toMatch(/set aside for a pending pod/);
    }, PATIENCE_MS);

  test('S2-26: a recreated victim does not take the room that another scheduler made, and is placed elsewhere', async () => {
    const victim = { name: 'victim', node: 'a', priority: 1, request: 8, graceSeconds: 3_600 };
    const { ours, others } = await build('s2-26', { nodes: [{ name: 'a', capacity: 10 }], running: [victim] });
    await others.create({ name: 'x', priority: 1_000, request: 8 });
    await becomes(others, { nominated: { x: 'a' }, terminating: ['victim'] });
    // So that the other scheduler tries first, whichever is faster.
    await own().cluster.stop('kube-scheduler');
    await others.end('victim');
    await ours.create({ name: 'recreated', priority: 1, request: 4 });
    await isKeptOut('s2-26', 'recreated');
    await ours.addNode({ name: 'b', capacity: 4 });
    await becomes(ours, { bound: { recreated: 'b' }, pending: ['x'] });
    await own().cluster.start('kube-scheduler');
    await becomes(ours, { bound: { recreated: 'b', x: 'a' } });
  }, 180_000);

  test('S2-38: the room that a DaemonSet pod made is not taken by a pod of higher priority', async () => {
    const victim = { name: 'victim', node: 'a', priority: 1, request: 8, graceSeconds: 3_600 };
    const { ours } = await build('s2-38', { nodes: [{ name: 'a', capacity: 10 }], running: [victim] });
    await createDaemonSet('s2-38', { priority: 100, cpu: 8 });
    await becomes(ours, { nominated: { daemon: 'a' }, terminating: ['victim'] });
    await ours.create({ name: 'higher', priority: 500, request: 8, preemptionPolicy: 'Never' });
    await eventually(async () => {
      const found = await own().admin.request({ path: `${PODS}/s2-38-higher` });
      expect(at(found, 'object.status.conditions.0.reason')).toBe('Unschedulable');
    }, PATIENCE_MS);
    await ours.end('victim');
    await becomes(ours, { bound: { daemon: 'a' }, pending: ['higher'] });
  }, 180_000);

  test('S2-29: a DaemonSet pod preempts a pod that opted out where its node holds no other', async () => {
    const priority = 3;
    const annotations = { 'plimsoll.dev/allow-preemption': 'false' };
    await createClass(priority, annotations);
    const nodes = ['alone', 'shared'].map((name) => ({ name, capacity: 10 }));
    const kept = { priority, request: 8, graceSeconds: 3_600 };
    const web = { name: 'web', node: 'shared', priority: 1_000, request: 1 };
    const running = [{ name: 'kept', node: 'alone', ...kept }, { name: 'also-kept', node: 'shared', ...kept }, web];
    const { ours } = await build('s2-29', { nodes, running });
    await createDaemonSet('s2-29', { priority: 100, cpu: 8 });
    await becomes(ours, { nominated: { daemon: 'alone' }, terminating: ['kept'], pending: ['daemon', 'daemon'] });
    await logs(/"node":"s2-29-shared-0","verdict":"removed","code":"ProtectedOptOut"/);
  }, 180_000);

  test('S2-29: a pod that names a DaemonSet of its tenant takes no pod that opted out', async () => {
    const id = 'forged';
    await createClass(3, { 'plimsoll.dev/allow-preemption': 'false' });
    const kept = { name: 'kept', node: 'a', priority: 3, request: 8, graceSeconds: 3_600 };
    const { ours } = await build(id, { nodes: [{ name: 'a', capacity: 10 }], running: [kept] });
    // It is on no node, so its controller leaves the pod alone.
    const labels = { seed: 'claims' };
    const containers = [{ name: 'main', image: 'registry.test/idle:1' }];
    const template = { metadata: { labels }, spec: { nodeSelector: { example: 'nowhere' }, containers } };
    const body = { metadata: { name: id }, spec: { selector: { matchLabels: labels }, template } };
    const made = await own().admin.request({ method: 'POST', path: DAEMON_SETS, body });
    const owner = { apiVersion: 'apps/v1', kind: 'DaemonSet', name: id, uid: at(made, 'object.metadata.uid') };
    await ours.create({ name: 'claims', priority: 100, request: 8 }, [{ ...owner, controller: true }]);
    await logs(/"node":"forged-a-0","verdict":"removed","code":"ProtectedOptOut"/);
    expect(await ours.seen()).toMatchObject({ terminating: [], pending: ['claims'] });
  }, 180_000);

  test('a nomination that the extender voids ends, and other pods get the room', async () => {
    await createClass(3, { 'plimsoll.dev/allow-preemption': 'false' });
    const shared = { node: 'a', request: 4, graceSeconds: 3_600 };
    const victim = { name: 'victim', priority: 1, ...shared };
    const running = [victim, { name: 'kept', priority: 3, ...shared }];
    const { ours, others } = await build('voided', { nodes: [{ name: 'a', capacity: 10 }], running });
    await ours.create({ name: 'x', priority: 1_000, request: 6 });
    await becomes(ours, { nominated: { x: 'a' }, terminating: ['victim'] });
    // It takes the room that the preemption frees, so that only the pod that opted out could make way.
    await others.create({ name: 'intruder', node: 'a', priority: 2_000, request: 4 });
    await ours.end('victim');
    await logs(/"node":"voided-a-0","verdict":"removed","code":"ProtectedOptOut"/);
    await ours.create({ name: 'small', priority: 1, request: 2 });
    await becomes(ours, { bound: { intruder: 'a', small: 'a' }, pending: ['x'] });
    expect((await ours.seen()).nominated).toEqual({});
    expect(await ours.here()).toEqual(['intruder', 'kept', 'small']);
  }, 180_000);

  test('S2-4: the preemption of a DaemonSet pod looks only at its own node', async () => {
    await createClass(3, { 'plimsoll.dev/allow-preemption': 'false' });
    const nodes = ['full', 'half'].map((name) => ({ name, capacity: 20 }));
    const shared = { request: 8, graceSeconds: 3_600 };
    const running = [
      // kube-scheduler alone would preempt it, as its priority is lower.
      { name: 'spared', node: 'full', priority: 3, ...shared },
      { name: 'important', node: 'full', priority: 50, ...shared },
      { name: 'cheap', node: 'half', priority: 1, ...shared },
    ];
    const { ours } = await build('s2-4', { nodes, running });
    const important = await ours.uidOf('important');
    await createDaemonSet('s2-4', { priority: 100, cpu: 8 });
    await becomes(ours, {
      bound: { daemon: 'half' },
      nominated: { daemon: 'full' },
      terminating: ['important'],
      pending: ['daemon'],
    });
    const asked = second().questions.about('preempt', /^s2-4-daemon-/);
    expect(asked.map(({ nodes: proposed }) => proposed)).toEqual(asked.map(() => ['s2-4-full-0']));
    expect(asked.map(namedVictims)).toContainEqual({ 's2-4-full-0': [important] });
  }, 180_000);
});

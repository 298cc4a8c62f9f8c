import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { makeRoomInSteps, type Seeker } from '#shared/domain/queue/make-room.ts';
import { putBudget, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { readRoomState, type RoomInput } from '#shared/decide/queues/room-state.ts';
import { seekersOf } from '#shared/decide/queues/seekers.ts';
import { buildBudget, buildNode } from '#test/build/cluster.ts';
import { GATE, type NodeSizes, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';
import { fill, GATED, HOUR, RUNNING, twoQueues, UNGATED } from '#test/scheduler/queues/reclaim-stage.ts';

type World = ReturnType<typeof queueWorld>;

/** The queue `other` has pods on all of the 8 CPUs, the first two of which are different. */
function fullWorld(change: Partial<WatchedPod> = {}, taker: Partial<WatchedPod> = {}, nodes?: NodeSizes): World {
  const world = queueWorld(twoQueues(), nodes, { now: () => HOUR * 1_000 });
  fill(world, 8);
  fill(world, 2, change);
  world.see({ ...UNGATED, ...taker });
  return world;
}

function inputOf(world: World, more: Partial<RoomInput> = {}): RoomInput {
  const { pods, snapshot } = world;
  const nobody = (): boolean => false;
  const asked = { now: HOUR * 1_000, isLeaving: nobody, isRefused: nobody, promises: [] };
  return { plan: world.plan(true), pods, snapshot, ...asked, ...more };
}

/** The victims, else why there are none; `undefined` where no pod seeks room. */
function found(world: World, more: Partial<RoomInput> = {}) {
  const input = inputOf(world, more);
  const [first] = finish(makeRoomInSteps(finish(readRoomState(input)), finish(seekersOf(input)), input.now));
  if (first === undefined) return undefined;
  return first.step.kind === 'Evict' ? first.step.victims.map(({ name }) => name) : first.step.because.code;
}

const others = ['shop/pod-2', 'shop/pod-3'];

describe('who would make room for a pod whose queue is under its guarantee', () => {
  test('as many pods of the other queue as are needed', () => {
    expect(found(fullWorld())).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['that asked to be spared when it was let in', { mayBePreempted: false }],
    [
      'that asks the cluster autoscaler for it',
      { wishes: { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' } },
    ],
    ['that asks Karpenter for it', { wishes: { 'karpenter.sh/do-not-disrupt': 'true' } }],
    ['of higher priority', { priority: 5 }],
    ['of a protected priority', { priority: 2_000_001_000 }],
    ['of its own application', { application: 'app of taker' }],
    ['of its own queue', { admittedTo: 'of-shop' }],
    ['that takes more than ten minutes to end', { spec: { terminationGracePeriodSeconds: 601 } }],
  ])('no pod %s, while there are others', (_, change) => {
    expect(found(fullWorld(change))).toEqual(others);
  });

  test('no pod of a protected priority, also where there are no others', () => {
    const world = queueWorld(twoQueues());
    fill(world, 8, { priority: 2_000_001_000 });
    world.see({ ...UNGATED, priority: 2_000_002_000 });
    expect(found(world)).toBe('NotEnough');
  });

  test('a pod that takes ten minutes to end', () => {
    expect(found(fullWorld({ spec: { terminationGracePeriodSeconds: 600 } }))).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test('no pod of a protected namespace', () => {
    const world = queueWorld(twoQueues());
    world.manage('kube-system', { 'plimsoll.dev/queues': 'managed' });
    fill(world, 8, { namespace: 'kube-system' });
    world.see(UNGATED);
    expect(found(world)).toBe('NotEnough');
  });

  test('no pod whose eviction was refused a short time ago', () => {
    expect(found(fullWorld(), { isRefused: (uid) => uid === 'uid-pod-0' })).toEqual(['shop/pod-1', 'shop/pod-2']);
  });

  test('the pod that did not ask to be spared, of two of one application (S2-30)', () => {
    // The first pod of an application goes last in any case.
    const world = fullWorld({ application: 'one' });
    world.see({ name: 'pod-1', ...RUNNING, application: 'one', mayBePreempted: false });
    world.see({ name: 'pod-2', ...RUNNING, application: 'one' });
    expect(found(world)).toEqual(['shop/pod-2', 'shop/pod-3']);
  });

  test('a pod that only later asked to be spared, as it was when it was let in (S2-35)', () => {
    const wishes = { 'plimsoll.dev/allow-preemption': 'false' };
    expect(found(fullWorld({ wishes, spec: { preemptionPolicy: 'Never' } }))).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test('pods for one whose spec only later says that it never preempts (S2-35)', () => {
    expect(found(fullWorld({}, { spec: { preemptionPolicy: 'Never' } }))).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test('no pod outside of queues', () => {
    const world = queueWorld(twoQueues());
    fill(world, 4, { namespace: 'elsewhere' });
    for (const name of ['a', 'b', 'c', 'd']) world.see({ name, ...RUNNING });
    world.see(UNGATED);
    expect(found(world)).toEqual(['shop/a', 'shop/b']);
  });

  test.each<[number, unknown]>([
    [1, ['shop/pod-0', 'shop/pod-2']],
    [0, others],
    [-1, others],
  ])('of pods under a budget as many as it lets go: %i', (allowed, expected) => {
    const world = fullWorld({ labels: { app: 'a' } });
    putBudget(world.snapshot, { ...buildBudget('pdb', { app: 'a' }, allowed), namespace: 'shop' });
    expect(found(world)).toEqual(expected);
  });

  test.each<[string, Partial<WatchedPod>, string]>([
    ['has waited for less than the delay of its queue', { admittedAt: HOUR - 10 }, 'NotAboveDelay'],
    ['may not preempt, by what was written when it was let in', { mayPreempt: false }, 'NeverPreempts'],
    ['stands in a queue without a guarantee', { admittedTo: 'other' }, 'TakerNotUnderGuarantee'],
  ])('none for a pod that %s', (_, taker, code) => {
    expect(found(fullWorld({}, taker))).toBe(code);
  });
});

describe('the pod that manages its application goes after the others', () => {
  const app = { application: 'spark', priority: -1 };

  test.each<[string, Partial<WatchedPod>, Partial<WatchedPod>, readonly string[]]>([
    ['the oldest', { ...app, createdAt: 2 }, { ...app, createdAt: 1 }, ['shop/pod-0', 'shop/pod-2']],
    ['by its UID of two equal ones', app, app, ['shop/pod-1', 'shop/pod-2']],
    [
      'the one with the label',
      app,
      { ...app, labels: { 'plimsoll.dev/originator': 'true' } },
      ['shop/pod-0', 'shop/pod-2'],
    ],
    ['a driver of Spark', app, { ...app, labels: { 'spark-role': 'driver' } }, ['shop/pod-0', 'shop/pod-2']],
    ['not where it is alone', { ...app, application: 'one' }, app, ['shop/pod-0', 'shop/pod-1']],
  ])('%s', (_, first, second, expected) => {
    const world = fullWorld();
    world.see({ name: 'pod-0', ...RUNNING, ...first });
    world.see({ name: 'pod-1', ...RUNNING, ...second });
    expect(found(world)).toEqual(expected);
  });
});

describe('of two pods that go first', () => {
  const controller = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'rs', uid: 'uid-rs', controller: true };

  test.each<[string, Partial<WatchedPod>, Partial<WatchedPod>]>([
    ['one that runs for a shorter time', { startedAt: 1 }, { startedAt: 2 }],
    ['one with a controller', {}, { owners: [controller] }],
    ['one that has not started', { startedAt: 1 }, {}],
  ])('%s', (_, first, second) => {
    const world = queueWorld(twoQueues(), { 'node-0': 4 });
    world.see({ name: 'a', ...RUNNING, cpu: 2, ...first });
    world.see({ name: 'b', ...RUNNING, cpu: 2, ...second });
    world.see(UNGATED);
    expect(found(world)).toEqual(['shop/b']);
  });

  const field = { key: 'metadata.name', operator: 'In', values: ['node-0'] };
  const onNode = { nodeSelectorTerms: [{ matchFields: [field] }] };
  const ofDaemonSet = {
    owners: [{ ...controller, kind: 'DaemonSet', name: 'ds' }],
    spec: { affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: onNode } } },
  };

  test('none of a DaemonSet, while there are others', () => {
    const world = fullWorld(ofDaemonSet);
    expect(found(world)).toEqual(['shop/pod-0', 'shop/pod-1']);
    world.snapshot.daemonSets.set('shop/ds', 'uid-rs');
    expect(found(world)).toEqual(others);
  });

  test.each<[string, string | undefined]>([
    ['let in', 'other'],
    ['never let in, as from before the queues', undefined],
  ])('those of a DaemonSet above its share, %s, where there are no others', (_, admittedTo) => {
    const world = queueWorld([queueFor('shop', { guaranteed: { cpu: 8 } }), queueFor('bank')]);
    world.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    world.snapshot.daemonSets.set('bank/ds', 'uid-rs');
    const daemon = { namespace: 'bank', node: 'node-0', phase: 'Running', ...ofDaemonSet };
    const queue = admittedTo === undefined ? {} : { admittedTo: 'of-bank' };
    for (const name of ['a', 'b', 'c']) world.see({ ...daemon, ...queue, name, cpu: 2 });
    world.see({ ...daemon, ...queue, name: 'z', cpu: 2, owners: [] });
    world.see({ ...UNGATED, cpu: 4 });
    const victims = found(world);
    expect([victims, Array.isArray(victims) && victims.length]).toEqual([expect.arrayContaining(['bank/a']), 2]);
  });
});

describe('pods that leave', () => {
  test.each<[string, number, unknown]>([
    ['soon', HOUR + 30, 'RoomIsMade'],
    ['within ten minutes', HOUR + 600, 'RoomIsMade'],
    ['later', HOUR + 601, others],
    ['overdue by a minute', HOUR - 60, 'RoomIsMade'],
    ['stuck for longer', HOUR - 61, others],
  ])('leave enough, or take their room: %s', (_, deletionAt, expected) => {
    expect(found(fullWorld({ deletionAt }))).toEqual(expected);
  });

  test('are those that were asked to, too', () => {
    const isLeaving = (uid: string): boolean => ['uid-pod-0', 'uid-pod-1'].includes(uid);
    expect(found(fullWorld(), { isLeaving })).toBe('RoomIsMade');
    const own = finish(readRoomState(inputOf(fullWorld({ deletionAt: HOUR }), { isLeaving }))).own;
    expect(own.get('other')).toEqual(new Map([['cpu', 6_000]]));
  });
});

describe('the pods that seek room', () => {
  const names = (world: World, more: Partial<RoomInput> = {}) =>
    finish(seekersOf(inputOf(world, more))).map(({ pod, isGated, nominatedTo }) => [pod.name, isGated, nominatedTo]);

  test('those behind the gate and those that were let in, the most important first', () => {
    const world = fullWorld({}, { admittedAt: 20 });
    world.see({ name: 'gated', gates: [GATE], createdAt: 25, nominatedTo: 'node-0' });
    world.see({ name: 'high', gates: [GATE], createdAt: 30, priority: 1 });
    expect(names(world)).toEqual([
      ['shop/high', true, undefined],
      ['shop/taker', false, undefined],
      ['shop/gated', true, 'node-0'],
    ]);
  });

  test('none that has a node', () => {
    expect(found(fullWorld({}, { node: 'node-0' }))).toBeUndefined();
  });

  test.each<[string, WatchedPod, (world: World) => void]>([
    ['was let in', GATED, ({ see }) => see(UNGATED)],
    ['has gone', GATED, ({ gone }) => gone('taker')],
    ['was bound', UNGATED, ({ see }) => see({ ...UNGATED, node: 'node-0' })],
    ['has gone after it was let in', UNGATED, ({ gone }) => gone('taker')],
    ['has its gate again', UNGATED, ({ see }) => see({ ...UNGATED, gates: [GATE] })],
  ])('none that %s since the plan was made', (_, taker, happen) => {
    const world = fullWorld({}, { node: 'node-1', cpu: 0.1, phase: 'Running' });
    world.see(taker);
    const input = inputOf(world);
    expect(finish(seekersOf(input))).toHaveLength(1);
    happen(world);
    expect(finish(seekersOf(input))).toEqual([]);
  });

  test('look only where their rules let them', () => {
    const world = fullWorld({}, { spec: { nodeSelector: { disk: 'ssd' } } });
    expect(found(world)).toBe('NotEnough');
    putNode(world.snapshot, buildNode({ name: 'node-1', labels: { disk: 'ssd' }, allocatable: { cpu: '2' } }));
    expect(found(world)).toBe('Room');
  });

  test('do not get what another one was promised', () => {
    const world = fullWorld({}, {}, { 'node-0': 8, 'node-1': 2 });
    expect(found(world)).toBe('Room');
    world.see({ name: 'first', namespace: 'elsewhere', cpu: 1, nominatedTo: 'node-1' });
    expect(found(world)).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test('do not get what was promised to one that the watch does not show as nominated yet (S0-23)', () => {
    const world = fullWorld({}, {}, { 'node-0': 8, 'node-1': 2 });
    world.see({ name: 'first', gates: [GATE], createdAt: 50 });
    const [taker] = finish(seekersOf(inputOf(world))) as readonly [Seeker];
    const first = { ...taker.pod, uid: 'uid-first', requests: new Map([['cpu', 1_000]]) };
    const promises = [{ node: 'node-1', pod: first, isBusy: false }];
    expect(found(world, { promises })).toEqual(['shop/pod-0', 'shop/pod-1']);
  });

  test('wait a minute for new nodes, once they were let in, while there are fewer than is declared', () => {
    const root = { metadata: { name: 'root' }, spec: { capacity: { cpu: 20 } } };
    const world = queueWorld([...twoQueues(), root], undefined, { now: () => HOUR * 1_000 });
    const declared = (now: number) => names(world, { now: now * 1_000 }).length;
    world.see({ ...UNGATED, admittedAt: HOUR });
    expect([declared(HOUR + 59), declared(HOUR + 60)]).toEqual([0, 1]);
    putNode(world.snapshot, buildNode({ name: 'node-1', allocatable: { cpu: '12' } }));
    expect(declared(HOUR)).toBe(1);
  });

  test('behind the gate do not: no autoscaler sees them', () => {
    const root = { metadata: { name: 'root' }, spec: { capacity: { cpu: 8.5 } } };
    const world = queueWorld([...twoQueues(), root]);
    fill(world, 8);
    world.see({ ...GATED, createdAt: HOUR });
    expect(names(world)).toEqual([['shop/taker', true, undefined]]);
  });
});

test('many nodes are read in steps', () => {
  const nodes = Object.fromEntries(Array.from({ length: 45 }, (_, index) => [`node-${index}`, 1]));
  const steps = readRoomState(inputOf(queueWorld(twoQueues(), nodes)));
  // One of them sorts.
  expect([...steps]).toHaveLength(3);
});

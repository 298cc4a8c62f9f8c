import { describe, expect, test } from 'vitest';
import { type GangTimes, gangTimes } from '#shared/decide/queues/gang-times.ts';
import { halfGangs } from '#shared/decide/queues/half-gangs.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const labels = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '3' };
const IN = { admittedTo: 'of-shop', admittedAs: { name: 'train', min: 3 }, labels } as const;
const RUNS = { ...IN, node: 'node-0', phase: 'Running' } as const;
const MIRROR = {
  'kubernetes.io/config.mirror': 'hash',
};

type Judged = Pick<Parameters<typeof halfGangs>[1], 'snapshot' | 'now'> & {
  readonly before?: GangTimes;
  readonly graceSeconds?: number;
};

function judged(gangs: Parameters<typeof halfGangs>[0], { before = new Map(), graceSeconds = 0, ...input }: Judged) {
  const times = gangTimes(gangs, before, input.now);
  const facts = { timeoutMs: 60_000, plannedFor: () => undefined, graceSecondsOf: () => graceSeconds };
  return { times, halves: halfGangs(gangs, { ...input, ...facts, times }) };
}

/** The gangs that go back after an hour, with what keeps them. */
function goingBack({ snapshot, plan }: Pick<ReturnType<typeof queueWorld>, 'snapshot' | 'plan'>, more = {}) {
  const { gangs } = plan(false, 'Guarantees', more);
  return judged(gangs, { snapshot, now: 3_600_000 }).halves.map(({ members, keptBy }) => [
    members.map(({ name }) => name),
    keptBy?.text,
  ]);
}

/** Two of three pods of a gang run, and the third one waits, for an hour. */
function half(first: Partial<WatchedPod> = {}, third: Partial<WatchedPod> = { gates: [GATE] }) {
  const world = queueWorld([queueFor('shop')]);
  world.see({ name: 'a', ...RUNS, ...first });
  world.see({ name: 'b', ...RUNS });
  world.see({ name: 'c', labels, ...third });
  expect([...world.pods.values()]).toHaveLength(3);
  return goingBack(world);
}

const keptBy = (keeper: string): string => `gang shop/train runs in part and cannot give its room back: ${keeper}`;

test('a gang that is half of one goes back with all that its queue has let in', () => {
  expect(half()).toEqual([[['a', 'b'], undefined]]);
  expect(half({}, IN)).toEqual([[['a', 'b', 'c'], undefined]]);
});

test.each([
  ['was there before queues', { ...RUNS, admittedTo: undefined }],
  ['is the mirror of a static pod', { ...RUNS, admittedTo: undefined, wishes: MIRROR }],
] as const)('no pod of a gang is evicted if one of them %s', (_, { admittedTo, ...change }) => {
  const first = { ...change, admittedTo } as unknown as Partial<WatchedPod>;
  expect(half(first)).toEqual([[['a', 'b'], keptBy('no queue has let pod a in')]]);
});

test('a pod that no queue let in and that has no node keeps them too', () => {
  expect(half({}, {})).toEqual([[['a', 'b', 'c'], keptBy('no queue has let pod c in')]]);
});

test('a system priority keeps all of them', () => {
  expect(half({ priority: 2_000_000_000 })).toEqual([[['a', 'b'], keptBy('pod a has a system priority')]]);
});

describe('only what was let in as a gang goes back for being few', () => {
  const ALONE = { admittedAs: undefined } as unknown as Partial<WatchedPod>;
  const KEPT = [['a', 'b'], keptBy('pod a was not let in with the gang')];

  test('pods that a version without gangs let in one by one stay, with members that went in as a gang', () => {
    expect(half(ALONE)).toEqual([KEPT]);
    expect(half(ALONE, IN)).toEqual([[['a', 'b', 'c'], KEPT[1]]]);
  });

  test('pods that went in as another gang, and name this one since, stay', () => {
    expect(half({ admittedAs: { name: 'other', min: 3 } })).toEqual([KEPT]);
  });

  test('a mark that is older than the guard, which a tenant may have written, sends none back', () => {
    const world = queueWorld([queueFor('shop')], undefined, { isGuarded: () => false });
    for (const name of ['a', 'b']) world.see({ name, ...RUNS });
    world.see({ name: 'c', labels, gates: [GATE] });
    world.pods.settleClaims(world.plan().claims);
    expect(goingBack(world)).toEqual([KEPT]);
  });

  test('a minimum that rises while they run sends none back, until fewer run than were let in together', () => {
    const group = { spec: { schedulingGroup: { podGroupName: 'train' } }, labels: {} };
    const world = queueWorld([queueFor('shop')]);
    for (const name of ['a', 'b']) world.see({ name, ...RUNS, ...group, admittedAs: { name: 'train', min: 2 } });
    for (const name of ['c', 'd']) world.see({ name, ...group, gates: [GATE] });
    expect(goingBack(world, { minOfGroup: () => 4 })).toEqual([]);
    world.gone('b');
    expect(goingBack(world, { minOfGroup: () => 4 })).toEqual([[['a'], undefined]]);
    expect(goingBack(world, { minOfGroup: () => 1 })).toEqual([]);
  });
});

test('a gang of more pods than a function takes arguments is judged as any other', () => {
  const { pods, snapshot, see, plan } = queueWorld([queueFor('shop')]);
  see({ name: 'a', ...RUNS });
  see({ name: 'b', labels, gates: [GATE] });
  expect([...pods.values()]).toHaveLength(2);
  const [gang] = plan().gangs;
  const [inside, outside] = gang?.members ?? [];
  if (gang === undefined || inside === undefined || outside === undefined) throw new Error('no gang');
  const { uid, name, namespace, priority, admitted, createdAt } = inside.pod;
  const pod = { uid, name, namespace, priority, admitted, createdAt, isBound: false } as QueuedPod;
  const isIn = Array.from({ length: 200_000 }, () => ({ ...inside, pod }));
  const gangs = [{ ...gang, members: [...isIn, outside] }];
  expect(judged(gangs, { snapshot, now: 3_600_000 }).halves[0]?.members).toHaveLength(200_000);
});

/** What a leader finds second by second, from the first one on or after it took over. */
function watchedWorld(graceSeconds = 0) {
  const world = queueWorld([queueFor('shop')], undefined, { now: () => 1_000_000 });
  let before: GangTimes = new Map();
  const lookAt = (second: number): boolean => {
    const found = judged(world.plan().gangs, { snapshot: world.snapshot, now: second * 1_000, before, graceSeconds });
    before = found.times;
    return found.halves.length > 0;
  };
  const firstDue = (from: number): number => {
    for (let second = from; second <= from + 200; second += 1) if (lookAt(second)) return second;
    return Infinity;
  };
  return { ...world, lookAt, firstDue, takeOver: (): void => void (before = new Map()) };
}

const IN_AT = (second: number) => ({ ...IN, admittedAt: second }) as const;
const RUNS_SINCE = (second: number) => ({ ...RUNS, admittedAt: second }) as const;

describe('its pods are evicted before it has run in part for a minute, also under a new leader', () => {
  test.each([false, true])('whose lacking pods are replaced again and again (leader replaced: %s)', (isReplaced) => {
    const world = watchedWorld();
    for (const name of ['a', 'b', 'c']) world.see({ name, ...RUNS_SINCE(0) });
    expect(world.lookAt(100)).toBe(false);
    world.gone('c');
    world.see({ name: 'd', labels, gates: [GATE], createdAt: 101 });
    expect(world.lookAt(101)).toBe(false);
    world.see({ name: 'd', ...IN_AT(140), createdAt: 101 });
    expect(world.lookAt(140)).toBe(false);
    if (isReplaced) world.takeOver();
    else {
      world.gone('d');
      expect(world.lookAt(141)).toBe(false);
      world.see({ name: 'e', labels, gates: [GATE], createdAt: 142 });
    }
    expect(world.firstDue(150)).toBeGreaterThan(150);
    expect(world.lookAt(159)).toBe(true);
  });

  test.each([false, true])('of which a start is not complete, from its first pod on (leader replaced: %s)', (isNew) => {
    const world = watchedWorld();
    for (const name of ['a', 'b', 'c']) world.see({ name, labels, gates: [GATE], createdAt: 0 });
    expect(world.lookAt(99)).toBe(false);
    world.see({ name: 'a', ...RUNS_SINCE(100) });
    expect(world.lookAt(110)).toBe(false);
    world.see({ name: 'b', ...IN_AT(130) });
    if (isNew) world.takeOver();
    expect(world.lookAt(130)).toBe(false);
    expect(world.firstDue(131)).toBeLessThan(160);
  });

  test.each([false, true])('of which pods end on a dead node and none comes (leader replaced: %s)', (isNew) => {
    const world = watchedWorld();
    for (const name of ['a', 'b', 'c']) world.see({ name, ...RUNS_SINCE(0) });
    expect(world.lookAt(99)).toBe(false);
    // Deleted at 100, with 30 seconds to end.
    world.see({ name: 'c', ...RUNS_SINCE(0), deletionAt: 130 });
    expect(world.lookAt(101)).toBe(false);
    if (isNew) world.takeOver();
    const due = world.firstDue(102);
    expect([due > 140, due < 160]).toEqual([true, true]);
  });

  test.each([
    ['at once', 100],
    ['once it has ended', 131],
  ])('but not while a deleted pod of it uses its time to end, whose owner replaces it %s', (_, createdAt) => {
    const world = watchedWorld(30);
    for (const name of ['a', 'b', 'c']) world.see({ name, ...RUNS_SINCE(0) });
    expect(world.lookAt(99)).toBe(false);
    // Deleted at 100, with 30 seconds to end; its room is free afterwards.
    world.see({ name: 'c', ...RUNS_SINCE(0), deletionAt: 130 });
    const replacement = { name: 'd', labels, gates: [GATE], createdAt };
    if (createdAt < 130) world.see(replacement);
    for (let second = 101; second <= 130; second += 1) expect([second, world.lookAt(second)]).toEqual([second, false]);
    world.gone('c');
    world.see(replacement);
    const due = world.firstDue(131);
    expect([due > 138, due <= 140]).toEqual([true, true]);
  });

  test('which may be long: no longer than half of the minute', () => {
    const world = watchedWorld();
    for (const name of ['a', 'b', 'c']) world.see({ name, ...RUNS_SINCE(0) });
    expect(world.lookAt(99)).toBe(false);
    world.see({ name: 'c', ...RUNS_SINCE(0), deletionAt: 3_700, deletionGraceSeconds: 3_600 });
    expect(world.firstDue(100)).toBeLessThan(160);
  });

  test('counted from when it was last whole, if its owner creates the pod again later', () => {
    const world = watchedWorld();
    for (const name of ['a', 'b', 'c']) world.see({ name, ...RUNS_SINCE(0) });
    expect(world.lookAt(100)).toBe(false);
    world.gone('c');
    expect(world.firstDue(101)).toBe(Infinity);
    world.see({ name: 'd', labels, gates: [GATE], createdAt: 400 });
    expect([world.lookAt(400), world.firstDue(401)]).toEqual([false, 410]);
  });

  test.each([
    [0, 59],
    [20, 40],
    [30, 30],
    [3_600, 30],
  ])('with pods that may take %i s to end no later than after %i s', (graceSeconds, atMost) => {
    const world = watchedWorld(graceSeconds);
    for (const name of ['a', 'b']) world.see({ name, ...RUNS_SINCE(0) });
    world.see({ name: 'c', labels, gates: [GATE], createdAt: 100 });
    const due = world.firstDue(101) - 100;
    expect([due <= atMost, due > atMost - 10]).toEqual([true, true]);
  });

  test('and a pod that has just been let in has some seconds to get its node, within the time', () => {
    const world = watchedWorld();
    for (const name of ['a', 'b']) world.see({ name, ...RUNS_SINCE(0) });
    world.see({ name: 'c', labels, gates: [GATE], createdAt: 100 });
    expect(world.lookAt(152)).toBe(false);
    world.see({ name: 'c', ...IN_AT(153), createdAt: 100 });
    expect([world.lookAt(157), world.lookAt(159)]).toEqual([false, true]);
  });

  test('a new leader that finds it half sent back goes on', () => {
    const world = watchedWorld();
    world.see({ name: 'b', ...RUNS_SINCE(0) });
    world.see({ name: 'c', labels, gates: [GATE], createdAt: 100 });
    world.see({ name: 'a-again', labels, gates: [GATE], createdAt: 159 });
    expect(world.lookAt(160)).toBe(true);
  });

  test('what waits beyond its size is not what it lacks', () => {
    const more = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '4', 'plimsoll.dev/gang-min': '3' };
    const world = watchedWorld();
    for (const name of ['a', 'b']) world.see({ name, ...RUNS_SINCE(0), labels: more });
    world.see({ name: 'beyond', labels: more, gates: [GATE], createdAt: 0 });
    world.see({ name: 'c', labels: more, gates: [GATE], createdAt: 1_000 });
    expect([world.lookAt(1_001), world.firstDue(1_002) > 1_050]).toEqual([false, true]);
  });
});

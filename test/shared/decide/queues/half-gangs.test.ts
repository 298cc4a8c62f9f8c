import { describe, expect, test } from 'vitest';
import { halfGangs, halvesSince } from '#shared/decide/queues/half-gangs.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const labels = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '3' };
const IN = { admittedTo: 'of-shop', admittedAs: { name: 'train', min: 3 }, labels } as const;
const RUNS = { ...IN, node: 'node-0', phase: 'Running' } as const;
const MIRROR = {
  'kubernetes.io/config.mirror': 'hash',
};

/** The gangs that go back after an hour, with what keeps them. */
function goingBack({ snapshot, plan }: Pick<ReturnType<typeof queueWorld>, 'snapshot' | 'plan'>, more = {}) {
  const { gangs } = plan(false, 'Guarantees', more);
  const since = halvesSince(gangs, new Map());
  const halves = halfGangs(gangs, { snapshot, now: 3_600_000, timeoutMs: 60_000, since, plannedFor: () => undefined });
  return halves.map(({ members, keptBy }) => [members.map(({ name }) => name), keptBy?.text]);
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
  expect(half({}, IN)).toEqual([[['c', 'a', 'b'], undefined]]);
});

test.each([
  ['was there before queues', { ...RUNS, admittedTo: undefined }],
  ['is the mirror of a static pod', { ...RUNS, admittedTo: undefined, wishes: MIRROR }],
] as const)('no pod of a gang is evicted if one of them %s', (_, { admittedTo, ...change }) => {
  const first = { ...change, admittedTo } as unknown as Partial<WatchedPod>;
  expect(half(first)).toEqual([[['a', 'b'], keptBy('no queue has let pod a in')]]);
});

test('a pod that no queue let in and that has no node keeps them too', () => {
  expect(half({}, {})).toEqual([[['c', 'a', 'b'], keptBy('no queue has let pod c in')]]);
});

test('a system priority keeps all of them', () => {
  expect(half({ priority: 2_000_000_000 })).toEqual([[['a', 'b'], keptBy('pod a has a system priority')]]);
});

describe('only what was let in as a gang goes back for being few', () => {
  const ALONE = { admittedAs: undefined } as unknown as Partial<WatchedPod>;
  const KEPT = [['a', 'b'], keptBy('pod a was not let in with the gang')];

  test('pods that a version without gangs let in one by one stay, with members that went in as a gang', () => {
    expect(half(ALONE)).toEqual([KEPT]);
    expect(half(ALONE, IN)).toEqual([[['c', 'a', 'b'], KEPT[1]]]);
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
  const since = halvesSince(gangs, new Map());
  const input = { snapshot, now: 3_600_000, timeoutMs: 60_000, since, plannedFor: () => undefined };
  expect(halfGangs(gangs, input)[0]?.members).toHaveLength(200_000);
});

test('a gang whose lacking pods are replaced again and again is late from when it became half of one', () => {
  const world = queueWorld([queueFor('shop')]);
  const late = (now: number, before: ReadonlyMap<string, number>) => {
    const { gangs } = world.plan();
    const since = halvesSince(gangs, before);
    const { snapshot } = world;
    const halves = halfGangs(gangs, { snapshot, now, timeoutMs: 60_000, since, plannedFor: () => undefined });
    return { since, late: halves.length };
  };
  for (const name of ['a', 'b']) world.see({ name, ...RUNS });
  world.see({ name: 'c', labels, gates: [GATE], createdAt: 10 });
  const first = late(60_000, new Map());
  world.gone('c');
  world.see({ name: 'd', labels, gates: [GATE], createdAt: 65 });
  const second = late(70_000, first.since);
  world.see({ name: 'd', ...IN, createdAt: 65, admittedAt: 72 });
  const third = late(75_000, second.since);
  const fourth = late(78_000, third.since);
  world.see({ name: 'd', ...RUNS, createdAt: 65, admittedAt: 72 });
  const whole = late(79_000, fourth.since);
  expect([first.late, second.late, third.late, fourth.late, whole.since.size]).toEqual([0, 1, 0, 1, 0]);
});

import { expect, test } from 'vitest';
import { halfGangs } from '#shared/decide/queues/half-gangs.ts';
import type { QueuedPod } from '#shared/decide/queues/queued-pod.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const labels = { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '3' };
const IN = { admittedTo: 'of-shop', labels } as const;
const RUNS = { ...IN, node: 'node-0', phase: 'Running' } as const;
const MIRROR = {
  'kubernetes.io/config.mirror': 'hash',
};

/** Two of three pods of a gang run, and the third one waits, for an hour. */
function half(first: Partial<WatchedPod> = {}, third: Partial<WatchedPod> = { gates: [GATE] }) {
  const { pods, snapshot, see, plan } = queueWorld([queueFor('shop')]);
  see({ name: 'a', ...RUNS, ...first });
  see({ name: 'b', ...RUNS });
  see({ name: 'c', labels, ...third });
  expect([...pods.values()]).toHaveLength(3);
  const input = { snapshot, now: 3_600_000, timeoutMs: 60_000, plannedFor: () => undefined };
  return halfGangs(plan().gangs, input).map(({ members, keptBy }) => [members.map(({ name }) => name), keptBy?.text]);
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
  const input = { snapshot, now: 3_600_000, timeoutMs: 60_000, plannedFor: () => undefined };
  expect(halfGangs([{ ...gang, members: [...isIn, outside] }], input)[0]?.members).toHaveLength(200_000);
});

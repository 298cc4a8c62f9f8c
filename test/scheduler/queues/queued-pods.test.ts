import { describe, expect, test } from 'vitest';
import { GATE, queueFor, queueWorld, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';

const LET_IN = { admittedTo: 'of-shop', application: 'web' } as const;
const ADMITTED = { ...LET_IN, node: 'node-0' } as const;

function seen(...pods: readonly WatchedPod[]) {
  const world = queueWorld([queueFor('shop')]);
  for (const each of pods) world.see(each);
  return pods.map(({ name }) => world.pods.get(`uid-${name}`));
}

describe('200,000 pods are kept in little memory', () => {
  test('pods of different owners that request the same share the amounts', () => {
    const [a, b, other] = seen(
      { name: 'a', labels: { app: 'a' }, ...ADMITTED },
      { name: 'b', labels: { app: 'b' }, ...ADMITTED },
      { name: 'other', cpu: 2, labels: { app: 'c' }, ...ADMITTED },
    );
    expect(a?.requests).toBe(b?.requests);
    expect([a, other].map((each) => each?.requests.get('cpu'))).toEqual([1_000, 2_000]);
  });

  test('pods on nodes that one decision has let in share what it knew', () => {
    const [a, b, later] = seen(
      { name: 'a', ...ADMITTED, admittedAt: 1 },
      { name: 'b', ...ADMITTED, admittedAt: 2 },
      { name: 'later', ...ADMITTED, mayPreempt: true },
    );
    expect(a?.admitted).toBe(b?.admitted);
    expect([a, later].map((each) => each?.admitted?.mayPreempt)).toEqual([false, true]);
  });

  test('a pod without a node has the time at which it was let in', () => {
    const pods = seen({ name: 'a', ...LET_IN, admittedAt: 1 }, { name: 'b', ...LET_IN, admittedAt: 2 });
    expect(pods.map((each) => each?.admitted?.at)).toEqual([1_000, 2_000]);
  });

  test('only a pod behind its gate has a resourceVersion, for the write that lets it in', () => {
    const pods = seen({ name: 'waits', gates: [GATE] }, { name: 'runs', ...ADMITTED });
    expect(pods.map((each) => each?.resourceVersion)).toEqual(['7', undefined]);
  });
});

test('what the pod says is read from the pod', () => {
  const labels = { [GATE]: 'q', 'plimsoll.dev/application': 'web', 'plimsoll.dev/originator': 'true' };
  const owners = [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'rs', controller: true }];
  const spec = { priorityClassName: 'high', preemptionPolicy: 'Never' };
  const [pod] = seen({ name: 'a', gates: [GATE, 'other'], labels, owners, spec, priority: 3, createdAt: 5 });
  expect(pod).toMatchObject({
    uid: 'uid-a',
    namespace: 'shop',
    name: 'a',
    label: 'q',
    application: 'shop/web',
    owner: 'rs',
    className: 'high',
    neverPreempts: true,
    priority: 3,
    createdAt: 5_000,
    isMarkedOriginator: true,
    otherGates: ['other'],
    isBound: false,
    unplaced: { uid: 'uid-a' },
  });
});

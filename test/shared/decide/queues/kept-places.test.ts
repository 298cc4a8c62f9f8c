import { describe, expect, test } from 'vitest';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

/** When the process sees what it sees. */
const NOW_MS = 100_000;
const letIn = (plan: QueuePlan) => plan.letIn.map(({ name }) => name);

const ownedBy = (kind: string, uid = 'set-uid') => ({
  owners: [{ apiVersion: 'apps/v1', kind, name: 'set', uid, controller: true }],
});
const RUNNING = { node: 'node-0', phase: 'Running', admittedTo: 'of-shop' } as const;
const MARK = {
  queue: 'of-shop',
  application: '',
  mayPreempt: true,
  mayBePreempted: true,
  at: NOW_MS,
  decision: '',
};
const GATED = { gates: [GATE], createdAt: 99 };

/** Three pods of a controller in a queue with that maximum, and an older pod that waits. */
function world(kind: string, { max = 3, running = RUNNING }: { max?: number; running?: Partial<WatchedPod> } = {}) {
  const owner = ownedBy(kind);
  const made = queueWorld([queueFor('shop', { max: { cpu: max } })]);
  for (const name of ['set-0', 'set-1', 'set-2']) made.see({ name, ...owner, ...running });
  made.see({ name: 'backlog', gates: [GATE], createdAt: 1 });
  const replace = (name: string, change: Partial<WatchedPod> = {}): void => {
    made.see({ name, ...owner, ...running, deletionAt: 130, ...change });
    made.gone(name);
  };
  return { ...made, replace, at: (now = NOW_MS) => made.plan(true, 'Guarantees', { now }) };
}

describe('a pod that is deleted to be replaced', () => {
  test.each(['StatefulSet', 'DaemonSet'])('leaves its share to the next pod of its %s, not to the backlog', (kind) => {
    const { see, replace, at } = world(kind);
    replace('set-2');
    expect(letIn(at())).toEqual([]);
    see({ name: 'set-2b', ...ownedBy(kind), ...GATED });
    expect(letIn(at())).toEqual(['shop/set-2b']);
  });

  test('does so in a queue above its maximum, to the end of the rollout', () => {
    const { see, replace, at, pods } = world('StatefulSet', { max: 1 });
    for (const name of ['set-2', 'set-1', 'set-0']) {
      replace(name);
      see({ name: `${name}-new`, ...ownedBy('StatefulSet'), ...GATED });
      expect(letIn(at())).toEqual([`shop/${name}-new`]);
      pods.letIn(`uid-${name}-new`, MARK);
      expect(letIn(at())).toEqual([]);
    }
  });

  test('also where it ran before its namespace was managed', () => {
    const { see, replace, at } = world('StatefulSet', { max: 1, running: { node: 'node-0', phase: 'Running' } });
    replace('set-2');
    see({ name: 'set-2b', ...ownedBy('StatefulSet'), ...GATED });
    expect(letIn(at())).toEqual(['shop/set-2b']);
  });

  test('keeps it for ten seconds', () => {
    const { replace, at } = world('StatefulSet');
    replace('set-2');
    expect([letIn(at(NOW_MS + 9_999)), letIn(at(NOW_MS + 10_000))]).toEqual([[], ['shop/backlog']]);
  });

  test('is followed by one pod, of the same owner, namespace and queue, that requests no more', () => {
    const { see, replace, at } = world('StatefulSet', { max: 1 });
    replace('set-2');
    see({ name: 'larger', ...ownedBy('StatefulSet'), ...GATED, cpu: 2 });
    see({ name: 'other', ...ownedBy('StatefulSet', 'other-uid'), ...GATED });
    see({ name: 'elsewhere', namespace: 'bank', ...ownedBy('StatefulSet'), ...GATED });
    expect(letIn(at())).toEqual([]);
    for (const name of ['one', 'two']) see({ name, ...ownedBy('StatefulSet'), ...GATED });
    expect(letIn(at())).toEqual(['shop/one']);
  });

  test('is looked for once for all pods of a queue that request the same', () => {
    const { replace, pods } = world('StatefulSet');
    for (const name of ['set-0', 'set-1', 'set-2']) replace(name);
    const places = pods.places.inPass({ now: NOW_MS, ending: () => [] });
    const requests = new Map<string, number>([['cpu', 500]]);
    const asked: string[] = [];
    for (const queue of ['bank', 'bank', 'shop', 'shop']) {
      const pod = { placeKey: 'set-uid', namespace: 'shop', requests };
      const isTaken = places.take(pod, queue, () => asked.push(queue) > 0 && queue === 'shop');
      expect(isTaken).toBe(queue === 'shop');
    }
    expect(asked).toEqual(['bank', 'bank', 'bank', 'shop', 'shop']);
  });

  test.each<[string, string, Partial<WatchedPod>]>([
    ['that is evicted, as to make room', 'StatefulSet', { isDisrupted: true }],
    ['of a Job', 'Job', {}],
    ['that did not end in time', 'StatefulSet', { deletionAt: 1 }],
  ])('leaves none: a pod %s', (_, kind, change) => {
    const { replace, at } = world(kind);
    replace('set-2', change);
    expect(letIn(at())).toEqual(['shop/backlog']);
  });
});

describe('the pods of a Deployment that are deleted before others are created', () => {
  const ofRevision = (hash: string, uid = `rs-${hash}`) => ({
    labels: { 'pod-template-hash': hash },
    owners: [{ apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${hash}`, uid, controller: true }],
  });
  const NEW = { ...ofRevision('bbb'), ...GATED };

  /** Three pods of a Deployment, and an older one that waits. */
  function deployment(max: number, running: Partial<WatchedPod> = RUNNING) {
    let now = NOW_MS;
    const made = queueWorld([queueFor('shop', { max: { cpu: max } })], undefined, { now: () => now });
    const old = (name: string): WatchedPod => ({ name, ...ofRevision('aaa'), ...running });
    for (const name of ['old-1', 'old-2', 'old-3']) made.see(old(name));
    made.see({ name: 'backlog', gates: [GATE], createdAt: 1 });
    const remove = (name: string, graceSeconds = 30) =>
      made.see({ ...old(name), deletionAt: now / 1_000 + graceSeconds });
    return {
      ...made,
      remove,
      pass: (ms = 0) => {
        now += ms;
        return letIn(made.plan(true, 'Guarantees', { now }));
      },
    };
  }

  test.each([
    ['in an exactly full queue', 3],
    ['in a queue above its maximum', 1],
  ])('all at once (Recreate) leave their shares to the next revision, %s', (_, max) => {
    const { see, gone, remove, pass } = deployment(max);
    for (const name of ['old-1', 'old-2', 'old-3']) remove(name);
    gone('old-1');
    expect(pass()).toEqual([]);
    // The next revision comes when the last pod is gone.
    expect(pass(25_000)).toEqual([]);
    for (const name of ['old-2', 'old-3']) gone(name);
    expect(pass()).toEqual([]);
    for (const name of ['new-1', 'new-2', 'new-3', 'new-4']) see({ name, ...NEW });
    expect(pass()).toEqual(['shop/new-1', 'shop/new-2', 'shop/new-3']);
  });

  test('one at a time (maxSurge: 0) leave their shares, also where the old pod is gone before the new one waits', () => {
    const { see, gone, remove, pass, pods } = deployment(3);
    for (const turn of [1, 2, 3]) {
      remove(`old-${turn}`, 0);
      gone(`old-${turn}`);
      see({ name: `new-${turn}`, ...NEW });
      expect(pass()).toEqual([`shop/new-${turn}`]);
      pods.letIn(`uid-new-${turn}`, MARK);
    }
  });

  test('leave none while a pod of the queue has gone in against one of them: that was its share', () => {
    const { see, gone, remove, pass } = deployment(4);
    see({ name: 'new-1', ...NEW, ...RUNNING, gates: [], admittedAt: NOW_MS / 1_000, against: 3 });
    remove('old-1');
    gone('old-1');
    expect(pass()).toEqual(['shop/backlog']);
  });

  test('leave their shares for ten seconds, so that those of a smaller Deployment are free then', () => {
    const { gone, remove, pass } = deployment(3);
    remove('old-3');
    gone('old-3');
    expect(pass(9_999)).toEqual([]);
    expect(pass(1)).toEqual(['shop/backlog']);
  });
});

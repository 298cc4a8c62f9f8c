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
      const mark = {
        queue: 'of-shop',
        application: '',
        mayPreempt: true,
        mayBePreempted: true,
        at: NOW_MS,
        decision: '',
      };
      pods.letIn(`uid-${name}-new`, mark);
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

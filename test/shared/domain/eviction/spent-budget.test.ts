import { describe, expect, test } from 'vitest';
import { spentBudget } from '#shared/domain/eviction/protection.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildPod, selectorOf } from '#test/build/cluster.ts';

const READY = [{ type: 'Ready', status: 'True', reason: '' }];
const POD = buildPod({ name: 'web', namespace: 'team', labels: { app: 'web' }, phase: 'Running', conditions: READY });

function budget(more: Partial<DisruptionBudget> = {}): DisruptionBudget {
  const selector = selectorOf({ app: 'web' });
  return { namespace: 'team', name: 'one', selector, disruptionsAllowed: 0, disruptedPods: new Set(), ...more };
}

function withStatus(status: Partial<Pod['status']>): Pod {
  return { ...POD, status: { ...POD.status, ...status } };
}

describe('the budget that forbids an eviction for sure', () => {
  test.each<[what: string, pod: Pod, budgets: readonly DisruptionBudget[], name: string | undefined]>([
    ['is the one that allows nothing', POD, [budget()], 'one'],
    ['is one with an empty selector', POD, [budget({ selector: selectorOf({}) })], 'one'],
    ['is none without budgets', POD, [], undefined],
    ['is none that allows one', POD, [budget({ disruptionsAllowed: 1 })], undefined],
    ['is none for other pods', POD, [budget({ selector: selectorOf({ app: 'db' }) })], undefined],
    ['is none without a selector', POD, [budget({ selector: undefined })], undefined],
    ['is none of another namespace', POD, [budget({ namespace: 'other' })], undefined],
    [
      'is none of two, which the API server answers in another way',
      POD,
      [budget(), budget({ name: 'two' })],
      undefined,
    ],
    ['is none for a pod that waits', withStatus({ phase: 'Pending' }), [budget()], undefined],
    ['is none for a pod that has ended', withStatus({ phase: 'Failed' }), [budget()], undefined],
    ['is none for a pod whose readiness is unknown', withStatus({ conditions: [] }), [budget()], undefined],
    [
      'is none for a pod that is not ready',
      withStatus({
        conditions: [
          { type: 'Ready', status: 'False', reason: '' },
          { type: 'Initialized', status: 'True', reason: '' },
        ],
      }),
      [budget()],
      undefined,
    ],
    [
      'is the one whose healthy pods do not suffice, for a pod that is not ready',
      withStatus({ conditions: [] }),
      [budget({ allowsUnready: false })],
      'one',
    ],
    [
      'is none that lets pods go that are not ready',
      withStatus({ conditions: [] }),
      [budget({ allowsUnready: true })],
      undefined,
    ],
    ['is none whose status is outdated', POD, [budget({ isStale: true })], undefined],
    [
      'is none for a pod on its way out',
      { ...POD, deletion: { at: 0, gracePeriodSeconds: 30 } },
      [budget()],
      undefined,
    ],
  ])('%s', (_, pod, budgets, name) => {
    expect(spentBudget(pod, budgets)?.name).toBe(name);
  });
});

import { describe, expect, test } from 'vitest';
import type { PodCondition } from '#shared/domain/pod/pod.ts';
import type { PodFields } from '#test/build/cluster.ts';
import { NODES, plan, type Situation } from './plan-situation.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('who may not preempt', () => {
  const condition = (fields: Partial<PodCondition>): PodCondition => ({
    type: 'DisruptionTarget',
    status: 'True',
    reason: 'PreemptionByScheduler',
    ...fields,
  });
  const leaving = (...conditions: PodCondition[]): Situation => ({
    pods: [one('p', { deletion: { at: 0, gracePeriodSeconds: 30 }, conditions })],
  });
  const again = { nominatedTo: 'n0' };

  test.each<[string, Partial<PodFields>, Situation, string]>([
    ['a pod that never preempts', { spec: { preemptionPolicy: 'Never' } }, { pods: [one('p')] }, 'neverPreempts'],
    ['a pod whose victims are still leaving', again, leaving(condition({})), 'victimsStillTerminating'],
    ['only the first condition counts', again, leaving(condition({ status: 'False' }), condition({})), 'onlyCandidate'],
    ['victims of others do not count', again, leaving(condition({ reason: 'EvictionByEvictionAPI' })), 'onlyCandidate'],
    ['without a condition no pod is a victim', again, leaving(), 'onlyCandidate'],
    [
      'a condition without deletion does not count',
      again,
      { pods: [one('p', { conditions: [condition({})] })] },
      'onlyCandidate',
    ],
    ['a nominated node that is gone does not count', { nominatedTo: 'gone' }, leaving(condition({})), 'onlyCandidate'],
    [
      'a nominated node beyond help does not count',
      { nominatedTo: 'n0', requests: { cpu: '3' } },
      { ...leaving(condition({})), nodes: [...NODES, { name: 'n1', allocatable: { cpu: '1' } }] },
      'noCandidate',
    ],
  ])('%s', (_, pod, situation, code) => {
    expect(plan(pod, situation).because.code).toBe(code);
  });

  test('the text is that of Kubernetes', () => {
    const found = plan({ spec: { preemptionPolicy: 'Never' } }, { pods: [one('p')] });
    expect(found).toEqual({
      kind: 'notEligible',
      unschedulable: '0/1 nodes are available: 1 Insufficient cpu.',
      message: 'preemption: not eligible due to preemptionPolicy=Never.',
      because: { code: 'neverPreempts', text: 'not eligible due to preemptionPolicy=Never.', facts: {} },
    });
  });
});

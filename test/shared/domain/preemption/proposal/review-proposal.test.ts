import { describe, expect, test } from 'vitest';
import { buildBudget } from '#test/build/cluster.ts';
import { STAYS, review, half, evicting, enforced, type Case } from './review-case.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('reviewProposal', () => {
  test.each<[string, Case, unknown]>([
    ['a node without protected victims stays', { pods: [one('p'), one('q')], proposed: ['q'] }, ['kept', ['q'], 0]],
    [
      'so does one whose victims we would not have chosen',
      { pods: [one('p', { priority: 5 }), one('q')], proposed: ['p'] },
      ['kept', ['p'], 0],
    ],
    [
      'another pod goes in the place of a protected one',
      { pods: [one('p', { priority: 5 }), one('q', STAYS)], proposed: ['q'] },
      ['changed', ['p'], 0],
    ],
    [
      'where there is none, the node is taken away',
      { pods: [one('p', { priority: 10 }), one('q', STAYS)], proposed: ['q'] },
      'ProtectedOptOut',
    ],
    [
      'kube-scheduler may know a victim that the extender does not',
      { pods: [one('p'), one('q')], proposed: ['q', 'new'] },
      ['kept', ['q', undefined], 0],
    ],
    [
      'but a protected pod beside it stays',
      { pods: [one('p'), one('q', STAYS)], proposed: ['q', 'new'] },
      'ProtectedOptOut',
    ],
    [
      'a protected pod that is terminating loses nothing',
      { pods: [one('p'), one('q', { ...STAYS, deletion: { at: 1, gracePeriodSeconds: 3_600 } })], proposed: ['q'] },
      ['kept', ['q'], 0],
    ],
    ['an empty list takes nothing: the node stays', { pods: [one('p')], proposed: [] }, ['kept', [], 0]],
    [
      'also beside protected pods and with hard budgets',
      { pods: [one('p', STAYS)], proposed: [], rules: { budgets: 'Hard' } },
      ['kept', [], 0],
    ],
    [
      'what is ending elsewhere, or is too little, changes nothing',
      {
        pods: [one('p'), one('q'), one('r', { requests: { cpu: '0' }, deletion: { at: 0, gracePeriodSeconds: 30 } })],
        proposed: ['q'],
      },
      ['kept', ['q'], 0],
    ],
    [
      'hard budgets take the node away',
      { pods: [one('p'), one('q')], proposed: ['q'], rules: { budgets: 'Hard' }, budgetViolations: 1 },
      'OverBudget',
    ],
    ['others do not', { pods: [one('p'), one('q')], proposed: ['q'], budgetViolations: 1 }, ['kept', ['q'], 1]],
    [
      'nor may a substitute break a hard budget',
      {
        pods: [one('p', { labels: { app: 'web' } }), one('q', STAYS)],
        proposed: ['q'],
        rules: { budgets: 'Hard' },
        budgets: [buildBudget('web', { app: 'web' }, 0)],
      },
      'OverBudget',
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

describe('reviewProposal, on equal victims', () => {
  const four = ['p', 'q', 'r', 's'];
  const usage = (...names: readonly string[]) => ({ ...enforced, overRequest: evicting(...names) });
  const pods = four.map((name, index) => half(name, { startedAt: index }));
  const aware = { usageAware: true };
  const amounts = { cpu: '500m', memory: '1Mi' };
  const guaranteed = (name: string) => one(name, { requests: amounts, limits: amounts });
  const byQos = { tieBreak: 'qos' } as const;

  test.each<[string, Case, unknown]>([
    [
      'those above their request go first',
      { pods, proposed: ['r', 's'], rules: aware, pressure: usage('p') },
      ['changed', ['s', 'p'], 0],
    ],
    ['but not unless that is asked for', { pods, proposed: ['r', 's'], pressure: usage('p') }, ['kept', ['r', 's'], 0]],
    [
      'nor by what was measured long ago',
      { pods, proposed: ['r', 's'], rules: aware, pressure: usage('p'), now: 60_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never a pod of higher priority',
      {
        pods: [half('p', { priority: 1 }), half('q'), half('r'), half('s')],
        proposed: ['r', 's'],
        rules: aware,
        pressure: usage('p'),
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never a protected one',
      {
        pods: pods.map((pod) => (pod.name === 'p' ? { ...pod, ...STAYS } : pod)),
        proposed: ['r', 's'],
        rules: aware,
        pressure: usage('p'),
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'never more of them',
      { pods: [half('p'), half('q'), one('s')], proposed: ['s'], rules: aware, pressure: usage('p', 'q') },
      ['kept', ['s'], 0],
    ],
    [
      'by QoS class Burstable goes before Guaranteed',
      {
        pods: [half('p'), guaranteed('q'), guaranteed('r'), half('s')],
        proposed: ['r', 's'],
        rules: byQos,
      },
      ['changed', ['p', 's'], 0],
    ],
    [
      'QoS changes nothing by default',
      { pods: [half('p'), guaranteed('q'), half('r'), half('s')], proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

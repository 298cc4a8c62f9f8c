import { describe, expect, test } from 'vitest';
import { buildBudget, type PodFields } from '#test/build/cluster.ts';
import { STAYS, review, ENDING, half, evicting, enforced, type Case } from './review-case.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

const WEB = { labels: { app: 'web' } };
const AT_ONCE = { spec: { terminationGracePeriodSeconds: 0 } };

describe('reviewProposal, on pods that leave by themselves', () => {
  const pods = (ending: Partial<PodFields>) => [half('p', ending), half('q'), half('r'), half('s')];

  test.each<[string, Case, unknown]>([
    [
      'only the victims stay that their room makes unnecessary',
      { pods: pods(ENDING), proposed: ['r', 's'] },
      ['changed', ['s'], 0],
    ],
    [
      'where their room is enough they stand for the victims, so that kube-scheduler keeps it for the pod',
      { pods: [one('p', { ...ENDING, priority: 5 }), half('q'), half('r')], proposed: ['q', 'r'] },
      ['changed', ['p'], 0],
    ],
    [
      'a victim that is terminating stays named: without it the node would look cheaper than it is',
      { pods: [half('p'), half('q'), half('r', ENDING), half('s')], proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
    [
      'victims that are all terminating stay',
      { pods: [one('p', ENDING), one('q', ENDING)], proposed: ['p', 'q'], budgetViolations: 1 },
      ['kept', ['p', 'q'], 1],
    ],
    [
      'a protected pod that is terminating is not named, and without a nomination its room could be lost',
      { pods: [one('p', { ...ENDING, ...STAYS }), one('q')], proposed: ['q'] },
      ['kept', ['q'], 0],
    ],
    [
      'a protected victim is the first that can stay',
      {
        pods: [half('p', { ...ENDING, priority: 5 }), half('q'), half('r', { priority: 1 }), half('s', STAYS)],
        proposed: ['r', 's'],
      },
      ['changed', ['r'], 0],
    ],
    [
      'a pod that ends later than the victims would is not waited for',
      { pods: pods({ deletion: { at: 31_000, gracePeriodSeconds: 60 } }), proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
    [
      'nor one of any longer grace period where the victims have the default',
      { pods: pods({ deletion: { at: 3_600_000, gracePeriodSeconds: 3_600 } }), proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
    [
      'nor one that has more than a minute from its deletion, whatever the victims have',
      { pods: pods({ deletion: { at: 1_000, gracePeriodSeconds: 61 } }), proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
    [
      'with a minute it is',
      { pods: pods({ deletion: { at: 1_000, gracePeriodSeconds: 60 } }), proposed: ['r', 's'] },
      ['changed', ['s'], 0],
    ],
    [
      'nor where the victims end at once',
      { pods: pods(ENDING).map((pod) => ({ ...pod, ...AT_ONCE })), proposed: ['r', 's'] },
      ['kept', ['r', 's'], 0],
    ],
    [
      'nor one that has outlived its grace period by more than a kubelet needs',
      { pods: pods(ENDING), proposed: ['r', 's'], now: 40_001 },
      ['kept', ['r', 's'], 0],
    ],
    ['until then it is', { pods: pods(ENDING), proposed: ['r', 's'], now: 40_000 }, ['changed', ['s'], 0]],
    [
      'nor one that terminates later than its grace period allows: the clocks differ',
      { pods: pods(ENDING), proposed: ['r', 's'], now: -60_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'a pod is put off on a node for a minute',
      { pods: pods(ENDING), proposed: ['r', 's'], waited: 60_000 },
      ['changed', ['s'], 0],
    ],
    [
      'and no longer, whatever ends there',
      { pods: pods(ENDING), proposed: ['r', 's'], waited: 60_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'a pod that the agent evicts leaves, too',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p') } },
      ['changed', ['s'], 0],
    ],
    [
      'two that the agent evicts make all the room, but none can be named before it terminates',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p', 'q') } },
      ['kept', ['r', 's'], 0],
    ],
    [
      'in a dry run the agent evicts no pod',
      { pods: pods({}), proposed: ['r', 's'], pressure: { observedAt: 0, evicting: evicting('p', 'q') } },
      ['kept', ['r', 's'], 0],
    ],
    [
      'what an agent said long ago does not count',
      {
        pods: pods({}),
        proposed: ['r', 's'],
        pressure: { ...enforced, evicting: evicting('p', 'q') },
        now: 60_001,
      },
      ['kept', ['r', 's'], 0],
    ],
    [
      'a pod nominated with equal priority has taken the room',
      {
        pods: [...pods(ENDING), { name: 'first', nominatedTo: 'n0', priority: 10, requests: { cpu: '500m' } }],
        proposed: ['q', 'r', 's'],
      },
      ['changed', ['r', 's'], 0],
    ],
    [
      'a victim whose budget is used up can stay before others, as in kube-scheduler',
      {
        pods: [half('p', ENDING), half('q'), half('r'), half('s', { labels: { app: 'web' } })],
        proposed: ['r', 's'],
        budgets: [buildBudget('web', { app: 'web' }, 0)],
        budgetViolations: 1,
      },
      ['changed', ['r'], 0],
    ],
    [
      'so that one goes which the budget allows',
      {
        pods: [half('p', { ...ENDING, priority: 5 }), half('q'), half('r', WEB), half('s', WEB)],
        proposed: ['r', 's'],
        budgets: [buildBudget('web', { app: 'web' }, 1)],
        budgetViolations: 1,
      },
      ['changed', ['r'], 0],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

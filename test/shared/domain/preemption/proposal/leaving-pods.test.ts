import { describe, expect, test } from 'vitest';
import { buildBudget, type PodFields } from '#test/build/cluster.ts';
import { STAYS, review, ENDING, half, evicting, enforced, type Case } from './review-case.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('reviewProposal, on pods that leave by themselves', () => {
  const pods = (ending: Partial<PodFields>) => [half('p', ending), half('q'), half('r'), half('s')];

  test.each<[string, Case, unknown]>([
    [
      'only the victims stay that their room makes unnecessary',
      { pods: pods(ENDING), proposed: ['r', 's'] },
      ['changed', ['s'], 0],
    ],
    [
      'where their room is enough they are the victims, so that kube-scheduler keeps it for the pod',
      { pods: [half('p'), half('q', ENDING), half('r')], proposed: ['q', 'r'] },
      ['changed', ['q'], 0],
    ],
    [
      'also where kube-scheduler proposes others',
      { pods: [half('p', ENDING), half('q'), half('r')], proposed: ['q', 'r'] },
      ['changed', ['p'], 0],
    ],
    [
      'victims that are all terminating stay',
      { pods: [one('p', ENDING), one('q', ENDING)], proposed: ['p', 'q'], budgetViolations: 1 },
      ['kept', ['p', 'q'], 1],
    ],
    [
      'a protected pod that is terminating is not named',
      { pods: [half('p'), half('q', { ...ENDING, ...STAYS }), half('r')], proposed: ['r'] },
      'RoomSoon',
    ],
    [
      'a pod that should have ended a minute ago is not counted on',
      { pods: pods(ENDING), proposed: ['r', 's'], now: 90_001 },
      ['kept', ['r', 's'], 0],
    ],
    [
      'nor one that terminates later than its grace period allows: the clocks differ',
      { pods: pods(ENDING), proposed: ['r', 's'], now: -60_001 },
      ['kept', ['r', 's'], 0],
    ],
    ['by up to a minute they may', { pods: pods(ENDING), proposed: ['r', 's'], now: -60_000 }, ['changed', ['s'], 0]],
    ['until then it is', { pods: pods(ENDING), proposed: ['r', 's'], now: 90_000 }, ['changed', ['s'], 0]],
    [
      'a pod that the agent evicts leaves, too',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p') } },
      ['changed', ['s'], 0],
    ],
    [
      'two that the agent evicts make all the room',
      { pods: pods({}), proposed: ['r', 's'], pressure: { ...enforced, evicting: evicting('p', 'q') } },
      'RoomSoon',
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
      'a victim whose budget is used up is counted where it is needed',
      {
        pods: [half('p', ENDING), half('q'), half('r'), half('s', { labels: { app: 'web' } })],
        proposed: ['r', 's'],
        budgets: [buildBudget('web', { app: 'web' }, 0)],
        budgetViolations: 1,
      },
      ['changed', ['s'], 1],
    ],
  ])('%s', (_, situation, expected) => {
    expect(review(situation)).toEqual([expected]);
  });
});

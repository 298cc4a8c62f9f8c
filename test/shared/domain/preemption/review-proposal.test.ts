import { describe, expect, test } from 'vitest';
import type { DisruptionBudget } from '#shared/domain/snapshot/disruption-budget.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { type ProposalRules, reviewProposal } from '#shared/domain/preemption/review-proposal.ts';
import { buildBudget, buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';

const OPTED_OUT = { code: 'ProtectedOptOut', text: 'the pod asked never to be evicted', facts: {} };
const RULES: ProposalRules = {
  protection: ({ labels }) => (labels.has('stay') ? OPTED_OUT : undefined),
  budgets: 'BestEffort',
};
const STAYS = { labels: { stay: 'yes' } };

const one = (name: string, fields: Partial<PodFields> = {}): PodFields => ({
  name,
  node: 'n0',
  priority: 0,
  requests: { cpu: '1' },
  ...fields,
});

interface Case {
  readonly pods: readonly PodFields[];
  readonly proposed: readonly string[];
  readonly rules?: Partial<ProposalRules>;
  readonly budgets?: readonly DisruptionBudget[];
  readonly budgetViolations?: number;
}

/** Of one node with two CPUs, for a pod that needs one. */
function review({ pods, proposed, rules, budgets = [], budgetViolations = 0 }: Case) {
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2', memory: '4Gi' } })];
  const built = pods.map(buildPod);
  const snapshot = createSnapshot({ nodes, pods: built, budgets });
  const names = new Map(built.map(({ uid, name }) => [uid, name]));
  const uids = proposed.map((name) => built.find((pod) => pod.name === name)?.uid ?? name);
  const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
  const proposal = [{ node: 'n0', uids, budgetViolations }];
  const verdicts = reviewProposal(snapshot, incoming, proposal, { ...RULES, ...rules });
  return verdicts.map((verdict) =>
    verdict.kind === 'takenAway'
      ? verdict.because.code
      : [verdict.kind, verdict.victims.uids.map((uid) => names.get(uid)), verdict.victims.budgetViolations],
  );
}

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
    ['a victim that is not known is none', { pods: [one('p'), one('q')], proposed: ['q', 'new'] }, 'UnknownVictims'],
    ['nor is an empty list an answer', { pods: [one('p')], proposed: [] }, 'UnknownVictims'],
    [
      'no pod goes where terminating pods make room',
      { pods: [one('p', { priority: 20, deletion: { at: 0, gracePeriodSeconds: 30 } }), one('q')], proposed: ['q'] },
      'RoomSoon',
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

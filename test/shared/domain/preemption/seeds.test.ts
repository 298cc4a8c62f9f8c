import { describe, expect, test } from 'vitest';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { findObstacle } from '#shared/domain/placement/trial/examine-nodes.ts';
import type { NodeOutcome } from '#shared/domain/placement/victims/choose-node.ts';
import {
  planPreemption,
  type PreemptionOptions,
  type PreemptionPlan,
} from '#shared/domain/placement/plan/plan-preemption.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { victimsOnNode } from '#shared/domain/placement/victims/victims-on-node.ts';
import { readSeed, seedBudgets, sortedFields, seedNode, seedPod, type Given, type SeedPod } from './seed-cluster.ts';

interface Outcome {
  readonly victims: readonly string[];
  readonly notVictims?: readonly string[];
  readonly stay?: readonly string[];
  readonly nominatedNode?: string | null;
  readonly pendingState?: string;
}

interface Choice {
  readonly node: string | null;
  readonly victims: readonly string[];
  readonly budgetViolations?: number;
}

function snapshotOf({ nodes, running }: Given): ClusterSnapshot {
  return createSnapshot({ nodes: nodes.map(seedNode), pods: running.map(seedPod), budgets: seedBudgets(running) });
}

function planFor(given: Given, options: PreemptionOptions = {}): PreemptionPlan {
  if (given.pending === undefined) throw new Error('the seed has no pending pod');
  return planPreemption(snapshotOf(given), seedPod(given.pending), options);
}

function outcomesOf(plan: PreemptionPlan): readonly NodeOutcome[] {
  if (plan.kind === 'preempt') return [...plan.candidates, ...plan.rejected];
  return plan.kind === 'noCandidate' ? plan.rejected : [];
}

function victimsOf(plan: PreemptionPlan): readonly string[] {
  const chosen = plan.kind === 'preempt' ? plan.candidates.find(({ node }) => node === plan.best[0]) : undefined;
  return (chosen?.victims ?? []).map(({ pod }) => pod.name).sort();
}

/** Everything that a seed may say of a plan. */
function describePlan(plan: PreemptionPlan, running: readonly SeedPod[]): Required<Outcome> {
  const victims = victimsOf(plan);
  const stay = running.map(({ name }) => name).filter((name) => !victims.includes(name));
  return {
    victims,
    stay: stay.toSorted(),
    notVictims: stay.toSorted(),
    nominatedNode: plan.kind === 'preempt' ? (plan.best[0] ?? null) : null,
    pendingState: 'Pending',
  };
}

/** The decisive steps of seeds that go on to eviction are their first ones. */
function planningStep(then: Outcome | readonly Outcome[]): Outcome {
  const [first] = Array.isArray(then) ? (then as readonly Outcome[]) : [then as Outcome];
  if (first === undefined) throw new Error('the seed expects nothing');
  return first;
}

describe('one plan', () => {
  test.each([
    ['s0-2', 'noCandidate', ['stillRefused']],
    ['s0-10', 'onlyCandidate', ['candidate']],
    ['s0-17', 'onlyCandidate', ['candidate']],
    ['s0-18', 'onlyCandidate', ['candidate']],
    ['s0-31', 'noCandidate', ['noLowerPods']],
    ['s1-20', 'noCandidate', ['stillRefused']],
    ['s3-34', 'onlyCandidate', ['candidate']],
  ])('%s: the plan is that of the table', (id, because, nodes) => {
    const { given, then } = readSeed<Outcome | readonly Outcome[]>(id);
    const plan = planFor(given);
    const fields = ['victims', 'notVictims', 'stay', 'nominatedNode', 'pendingState'];
    expect(describePlan(plan, given.running)).toMatchObject(sortedFields(planningStep(then), fields));
    expect(plan.because.code).toBe(because);
    expect(outcomesOf(plan).map((outcome) => outcome.kind)).toEqual(nodes);
  });
});

describe('s1-25: budgets and the choice of node', () => {
  const { given, cases } = readSeed<Choice>('s1-25');
  const covered = { ...given, running: given.running.map((pod) => ({ budgetAllows: 0, ...pod })) };
  const situations: readonly [Given, PreemptionOptions][] = [
    [given, {}],
    [covered, {}],
    [covered, { budgets: 'Hard' }],
  ];

  test.each(cases.map((each, index) => [each.name, index] as const))('%s', (_, index) => {
    const [situation, options] = situations[index] ?? [given, {}];
    const plan = planFor(situation, options);
    const { node, victims, budgetViolations } = cases[index]?.then ?? { node: '', victims: [] };
    expect(victimsOf(plan)).toEqual(victims);
    expect(plan.kind === 'preempt' ? plan.best : [null]).toEqual([node]);
    if (plan.kind === 'preempt') {
      expect(plan.candidates.find((candidate) => candidate.node === node)?.budgetViolations).toBe(budgetViolations);
    } else {
      expect(outcomesOf(plan).map(({ kind }) => kind)).toEqual(['overBudget', 'overBudget']);
    }
  });
});

test('s1-21: no pod on another node is preempted, and the pod in the way is named', () => {
  const { given } = readSeed<unknown>('s1-21');
  const snapshot = snapshotOf(given);
  const entry = snapshot.nodes.get(given.consideredNode ?? '');
  if (entry === undefined || given.pending === undefined) throw new Error('the seed lacks its node or pod');
  const pod = seedPod(given.pending);
  expect(victimsOnNode(prefilter(snapshot, pod), entry)).toEqual({ kind: 'noLowerPods', node: 'N' });
  const obstacle = findObstacle(snapshot, pod, entry.node);
  expect({ blockedBy: obstacle?.pod.name, onNode: obstacle?.pod.spec.nodeName }).toEqual({
    blockedBy: 'Q',
    onNode: 'M',
  });
});

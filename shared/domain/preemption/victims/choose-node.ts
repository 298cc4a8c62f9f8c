import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Candidate } from './node-outcome.ts';

export type Criterion =
  | 'onlyCandidate'
  | 'fewestBudgetViolations'
  | 'lowestTopPriority'
  | 'smallestPrioritySum'
  | 'fewestVictims'
  | 'latestStart'
  | 'nodeName';

export interface NodeChoice {
  /** Every node that Kubernetes may take, by name; we take the first. */
  readonly best: readonly string[];
  /** What distinguishes the first from the rest. */
  readonly decidedBy: Criterion;
}

/** Each counts only among those that are equal by the ones before it; the smallest wins. */
const CRITERIA: readonly (readonly [Criterion, (candidate: Candidate) => number])[] = [
  ['fewestBudgetViolations', ({ budgetViolations }) => budgetViolations],
  ['lowestTopPriority', ({ topPriority }) => topPriority],
  ['smallestPrioritySum', ({ prioritySum }) => prioritySum],
  ['fewestVictims', ({ victims }) => victims.length],
  ['latestStart', ({ victims }) => -earliestStart(victims)],
];

/** Chooses among at least one candidate. `pkg/scheduler/framework/preemption/preemption.go` pickOneNodeForPreemption. */
export function chooseNode(candidates: readonly Candidate[]): NodeChoice {
  let equals = candidates;
  let decidedBy: Criterion = 'onlyCandidate';
  for (const [criterion, cost] of CRITERIA) {
    if (equals.length === 1) break;
    equals = cheapest(equals, cost);
    decidedBy = criterion;
  }
  if (equals.length > 1) decidedBy = 'nodeName';
  return { best: equals.map(({ node }) => node).sort(), decidedBy };
}

function cheapest(candidates: readonly Candidate[], cost: (candidate: Candidate) => number): readonly Candidate[] {
  const costs = candidates.map(cost);
  const least = costs.reduce((a, b) => Math.min(a, b), Infinity);
  return candidates.filter((_, index) => costs[index] === least);
}

/** Victims of the top priority stand in order of their start. `pkg/scheduler/util/utils.go` GetEarliestPodStartTime. */
function earliestStart([first]: readonly PlacedPod[]): number {
  return first?.startedAt ?? Infinity;
}

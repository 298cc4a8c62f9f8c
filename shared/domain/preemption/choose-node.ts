import type { PlacedPod } from '#shared/domain/model/placed-pod.ts';

/** What a node would cost. */
export interface NodeOffer {
  readonly node: string;
  /** At least one, in order of importance. */
  readonly victims: readonly PlacedPod[];
  readonly budgetViolations: number;
}

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
  /** What told the first from the rest. */
  readonly decidedBy: Criterion;
}

/** Each counts only among those that are equal by the ones before it; the smallest wins. */
const CRITERIA: readonly (readonly [Criterion, (offer: NodeOffer) => number])[] = [
  ['fewestBudgetViolations', (offer) => offer.budgetViolations],
  ['lowestTopPriority', topPriority],
  ['smallestPrioritySum', prioritySum],
  ['fewestVictims', (offer) => offer.victims.length],
  ['latestStart', (offer) => -earliestTopStart(offer)],
];

/** Added to each priority, so that none is below 0 and more victims always weigh more. */
const PRIORITY_SHIFT = 2 ** 31;

/** Chooses among at least one candidate. `pkg/scheduler/framework/preemption/preemption.go` pickOneNodeForPreemption. */
export function chooseNode(offers: readonly NodeOffer[]): NodeChoice {
  let equals = offers;
  let decidedBy: Criterion = 'onlyCandidate';
  for (const [criterion, cost] of CRITERIA) {
    if (equals.length === 1) break;
    equals = cheapest(equals, cost);
    decidedBy = criterion;
  }
  if (equals.length > 1) decidedBy = 'nodeName';
  return { best: equals.map(({ node }) => node).sort(), decidedBy };
}

function cheapest(offers: readonly NodeOffer[], cost: (offer: NodeOffer) => number): readonly NodeOffer[] {
  const costs = offers.map(cost);
  const least = costs.reduce((a, b) => Math.min(a, b), Infinity);
  return offers.filter((_, index) => costs[index] === least);
}

function topPriority({ victims }: NodeOffer): number {
  return victims[0]?.priority ?? -PRIORITY_SHIFT;
}

function prioritySum({ victims }: NodeOffer): number {
  return victims.reduce((sum, victim) => sum + victim.priority + PRIORITY_SHIFT, 0);
}

/** Victims of one priority stand in order of their start. `pkg/scheduler/util/utils.go` GetEarliestPodStartTime. */
function earliestTopStart({ victims }: NodeOffer): number {
  return victims[0]?.startedAt ?? Infinity;
}

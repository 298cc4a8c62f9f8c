import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { FilterRefusal } from '#shared/domain/placement/filters/node-filters.ts';

export type Criterion =
  | 'onlyCandidate'
  | 'fewestBudgetViolations'
  | 'lowestTopPriority'
  | 'smallestPrioritySum'
  | 'fewestVictims'
  | 'latestStart'
  | 'nodeName';

export interface ChosenNode {
  /** Every node that Kubernetes may choose, by name; we choose the first. */
  readonly best: readonly string[];
  /** What distinguishes the first from the rest. */
  readonly decidedBy: Criterion;
}

/** Each applies only to candidates that are equal by the previous ones; the smallest wins. */
const CRITERIA: readonly (readonly [Criterion, (candidate: NodeCandidate) => number])[] = [
  ['fewestBudgetViolations', ({ budgetViolations }) => budgetViolations],
  ['lowestTopPriority', ({ topPriority }) => topPriority],
  ['smallestPrioritySum', ({ prioritySum }) => prioritySum],
  ['fewestVictims', ({ victims }) => victims.length],
  ['latestStart', ({ victims }) => -earliestStart(victims)],
];

/** Chooses among at least one candidate. `pkg/scheduler/framework/preemption/preemption.go` pickOneNodeForPreemption. */
export function chooseNode(candidates: readonly NodeCandidate[]): ChosenNode {
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

function cheapest(
  candidates: readonly NodeCandidate[],
  cost: (candidate: NodeCandidate) => number,
): readonly NodeCandidate[] {
  const costs = candidates.map(cost);
  const least = costs.reduce((a, b) => Math.min(a, b), Infinity);
  return candidates.filter((_, index) => costs[index] === least);
}

/**
 * Victims of the highest priority are in order of their start. `pkg/scheduler/util/utils.go` GetEarliestPodStartTime.
 */
function earliestStart([first]: readonly PlacedPod[]): number {
  return first?.startedAt ?? Infinity;
}

/** What preemption could do on one node. */
export type NodeOutcome = NodeCandidate | RejectedNode;

/** The incoming pod would fit once the victims are gone. */
export interface NodeCandidate {
  readonly kind: 'candidate';
  readonly node: string;
  /** At least one, in order of importance. */
  readonly victims: readonly PlacedPod[];
  /** How many victims violate a disruption budget. */
  readonly budgetViolations: number;
  /** The priority of the most important victim. */
  readonly topPriority: number;
  /** The sum of all victims' priorities, each shifted above 0. */
  readonly prioritySum: number;
}

/** Preemption does not help on the node. */
export type RejectedNode = NotTried | NoLowerPods | StillRefused | OverBudget;

/** Removing pods cannot help; without a refusal, the pod's affinity names other nodes. */
interface NotTried {
  readonly kind: 'notTried';
  readonly node: string;
  readonly refusal: FilterRefusal | undefined;
}

/** No pod of the node may be preempted. */
export interface NoLowerPods {
  readonly kind: 'noLowerPods';
  readonly node: string;
}

/** The pod does not fit even with all lower pods removed. */
export interface StillRefused {
  readonly kind: 'stillRefused';
  readonly node: string;
  readonly refusal: FilterRefusal;
  readonly removed: number;
}

/** Budgets are hard, and one would be violated. */
interface OverBudget {
  readonly kind: 'overBudget';
  readonly node: string;
  readonly budgetViolations: number;
}

/**
 * The criteria by which kube-scheduler compares victims, before their start: the first counts most, lower is better.
 */
export type VictimsCost = readonly [
  budgetViolations: number,
  topPriority: number,
  prioritySum: number,
  victims: number,
];

/** Added to each priority, so that none is below 0 and more victims always weigh more. */
const PRIORITY_SHIFT = 2 ** 31;

/** `pkg/scheduler/framework/preemption/preemption.go` pickOneNodeForPreemption. */
export function costOf(victims: readonly PlacedPod[], budgetViolations: number): VictimsCost {
  let topPriority = -PRIORITY_SHIFT;
  let prioritySum = 0;
  for (const { priority } of victims) {
    topPriority = Math.max(topPriority, priority);
    prioritySum += priority + PRIORITY_SHIFT;
  }
  return [budgetViolations, topPriority, prioritySum, victims.length];
}

/** A node with these victims, in order of importance. */
export function candidateOf(node: string, victims: readonly PlacedPod[], budgetViolations: number): NodeCandidate {
  const [, topPriority, prioritySum] = costOf(victims, budgetViolations);
  return { kind: 'candidate', node, victims, budgetViolations, topPriority, prioritySum };
}

/** Negative if the first is better; 0 if they are equal. */
export function compareCosts(a: VictimsCost, b: VictimsCost): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Candidate } from './node-outcome.ts';

/** What kube-scheduler weighs victims by, before their start: the first number counts most, less is better. */
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
export function candidateOf(node: string, victims: readonly PlacedPod[], budgetViolations: number): Candidate {
  const [, topPriority, prioritySum] = costOf(victims, budgetViolations);
  return { kind: 'candidate', node, victims, budgetViolations, topPriority, prioritySum };
}

/** Below 0 where the first is better; 0 for equals. */
export function compareCosts(a: VictimsCost, b: VictimsCost): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2] || a[3] - b[3];
}

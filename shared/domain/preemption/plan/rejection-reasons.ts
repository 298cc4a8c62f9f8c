import type { RejectedNode } from '#shared/domain/preemption/victims/node-outcome.ts';

const NOT_HELPFUL = ['Preemption is not helpful for scheduling'];
const NO_VICTIMS = ['No preemption victims found for incoming pod'];
const BUDGET = ['a disruption budget would be broken'];

/** The texts that Kubernetes counts over the nodes (the one on hard budgets is ours). */
export function reasonsOf(rejected: RejectedNode): readonly string[] {
  switch (rejected.kind) {
    case 'notTried':
      return NOT_HELPFUL;
    case 'noLowerPods':
      return NO_VICTIMS;
    case 'stillRefused':
      return rejected.refusal.reasons;
    case 'overBudget':
      return BUDGET;
  }
}

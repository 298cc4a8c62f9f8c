import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { IdleFor } from '#shared/domain/preemption/set-aside/awaited-nominations.ts';
import type { VictimRules } from '#shared/domain/preemption/victims/victim-order.ts';
import type { NodeSheet } from '#shared/domain/snapshot/node-entry.ts';

/** The pods that kube-scheduler would preempt on one node. */
export interface ProposedVictims {
  readonly node: string;
  /** UIDs of at least one pod. */
  readonly uids: readonly string[];
  /** For how many of them a disruption budget would be violated. */
  readonly budgetViolations: number;
}

/** A preemption that kube-scheduler proposes. */
export interface Proposal {
  /** The preemptor. */
  readonly pod: Pod;
  readonly proposal: readonly ProposedVictims[];
  readonly now: Instant;
  /** Absent where nominations are met once: each is then taken for new. */
  readonly idleFor?: IdleFor;
}

/** The rules by which a proposal is reviewed. */
export interface ProposalRules extends VictimRules {
  /** Why `preemptor` may not take `victim`; `undefined` where it may. */
  readonly protection: (victim: Pod, preemptor: Pod) => Because | undefined;
  /** False only where no preemptor is refused any pod of a node; without it each victim is asked for. */
  readonly holdsProtected?: (sheet: NodeSheet) => boolean;
  /** Nodes on which `preemptor` preempts only where it can on no other, each with the reason. */
  readonly toLeave?: (preemptor: Pod) => ReadonlyMap<string, Because>;
  /** `Hard` takes away nodes on which a disruption budget would be violated. */
  readonly budgets: 'BestEffort' | 'Hard';
}

/** What becomes of one node of a proposal. */
export type NodeVerdict =
  | { readonly kind: 'kept'; readonly victims: ProposedVictims }
  | { readonly kind: 'changed'; readonly victims: ProposedVictims; readonly because: Because }
  | { readonly kind: 'takenAway'; readonly node: string; readonly because: Because };

/** The verdict on a node where no pod may be preempted. */
export function takenAway(node: string, because: Because): NodeVerdict {
  return { kind: 'takenAway', node, because };
}

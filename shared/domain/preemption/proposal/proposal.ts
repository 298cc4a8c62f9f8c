import type { Because } from '#shared/domain/model/because.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';
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
  /** Absent where pods are met once: none has then waited before. */
  readonly waitedFor?: WaitedFor;
}

/** For how long the preemptor has been put off on a node already, in milliseconds; 0 the first time. */
export type WaitedFor = (preemptor: Pod, node: string, now: Instant) => number;

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
  | {
      readonly kind: 'changed';
      readonly victims: ProposedVictims;
      readonly because: Because;
      /** Until when the pod waits there for room that comes by itself. */
      readonly waitsUntil?: Instant;
    }
  | { readonly kind: 'takenAway'; readonly node: string; readonly because: Because };

/** The verdict on a node where no pod may be preempted. */
export function takenAway(node: string, because: Because): NodeVerdict {
  return { kind: 'takenAway', node, because };
}

/** What all nodes of one proposal are reviewed with. */
export interface Review {
  readonly state: PrefilterState;
  /** Nothing that the preemptor needs is beyond the model. */
  readonly isModelled: boolean;
  readonly rules: ProposalRules;
  readonly now: Instant;
  readonly idleFor: IdleFor;
  readonly waitedFor: WaitedFor;
}

/** Room on a node for which no pod has to be preempted. */
export interface SoonRoom {
  readonly endsAt: Instant;
  /** Where it is not there by then, it may never be. */
  readonly failsAfter: Instant;
  /** What to answer with: pods that are terminating already. */
  readonly victims: ProposedVictims;
}

/** A reviewed node. */
export interface NodeReview {
  readonly proposed: ProposedVictims;
  readonly verdict: NodeVerdict;
  readonly room?: SoonRoom | undefined;
}

import type { Because } from '#shared/domain/base/because.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { Harm, ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import type { PolicyKind, ReschedulingPolicy, Restraint } from '#shared/domain/rescheduling/policy.ts';
import type { Movable, MovablePod, MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** What a policy may examine. */
export interface PolicyInput {
  readonly cluster: PassCluster;
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly restraint: Restraint;
  readonly memory: ReschedulingMemory;
  /** The pod if a policy may move it, otherwise the reason why it stays. Counts the pod as considered. */
  readonly movable: (placed: PlacedPod, node: PassNode) => Movable | undefined;
  /** Called for a pod of a node above its target that is never moved. */
  readonly onStay?: (placed: PlacedPod, node: PassNode, because: Because) => void;
  /** Whether it may move the pod, without looking up the owner. Counts the pod too. */
  readonly isMovable: (placed: PlacedPod, node: PassNode) => boolean;
}

/** One pod that a policy proposes to move. */
export interface MoveCandidate {
  readonly policy: PolicyKind;
  readonly pod: MovablePod;
  readonly because: Because;
  /**
   * Larger values come first, then the owner disrupted longest ago. Recomputed after each move; 0 withdraws the
   * candidate.
   */
  readonly worth: () => number;
  /** The gain of the move if the replacement is placed on this other node. */
  readonly gainOn: (target: PassNode) => number;
  readonly leastGain: number;
  /** Why the policy rejects this node. */
  readonly reasonAgainst: (target: PassNode) => Because | undefined;
  readonly avoidForMs: number;
  /** Why it stays, regardless of its next node. */
  readonly held?: Because | undefined;
  /** It is well placed, so it is not reported as staying. */
  readonly isOptional?: boolean;
  /** The pods that benefit from the move. */
  readonly harmed?: readonly Harm[] | undefined;
}

/** Candidates that are handled together: those of one node, or of one rule. */
export interface CandidateGroup {
  /** Built when the group is handled. */
  readonly candidates: () => readonly MoveCandidate[];
  /** The group with the largest value is handled next; 0 ends it. */
  readonly urgency: () => number;
}

/** How long the source is avoided after a move that only looks for a better place (S3-31). */
export const SHORT_AVOID_MS = 600_000;
/** How long it is avoided after a move away from a node on which pods fail. */
export const LONG_AVOID_MS = 3_600_000;

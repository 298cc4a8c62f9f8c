import type { Because } from '#shared/domain/model/because.ts';
import type { PassCluster, PassNode } from '#shared/domain/rescheduling/pass-cluster.ts';
import type { Harm, ReschedulingMemory } from '#shared/domain/rescheduling/memory.ts';
import type { PolicyKind, ReschedulingPolicy, Restraint } from '#shared/domain/rescheduling/policy.ts';
import type { Movable, MovablePod, MoveRules } from '#shared/domain/rescheduling/running-pod.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** What a policy looks at. */
export interface PolicyInput {
  readonly cluster: PassCluster;
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly restraint: Restraint;
  readonly memory: ReschedulingMemory;
  /** A pod as one that a policy may name, with its reason if it stays. Pods that are asked for count as considered. */
  readonly movable: (placed: PlacedPod, node: PassNode) => Movable | undefined;
  /** Whether it may name the pod, which counts too; its owner is not looked up. */
  readonly isMovable: (placed: PlacedPod, node: PassNode) => boolean;
}

/** A policy's wish to move one pod. */
export interface Wish {
  readonly policy: PolicyKind;
  readonly pod: MovablePod;
  readonly because: Because;
  /** Larger goes first; equal ones go by when their owner was last disrupted. Asked anew after each move, 0 withdraws it. */
  readonly worth: () => number;
  /** What the move would bring if the replacement went there, which is another node. */
  readonly gainOn: (target: PassNode) => number;
  readonly leastGain: number;
  /** Why the policy does not want it there. */
  readonly reasonAgainst: (target: PassNode) => Because | undefined;
  readonly avoidForMs: number;
  /** Why it stays wherever it would be placed. */
  readonly held?: Because | undefined;
  /** Nothing is wrong with its place, so that it stays is not reported. */
  readonly isOptional?: boolean;
  /** The pods that it is moved for. */
  readonly harmed?: readonly Harm[] | undefined;
}

/** Wishes that are served together: those of one node, or of one rule. */
export interface WishGroup {
  /** Made when the group is served. */
  readonly wishes: () => readonly Wish[];
  /** The group with the largest is served next; 0 ends it. */
  readonly urgency: () => number;
}

/** How long the source is avoided after a move that only looks for a better place (S3-31). */
export const SHORT_AVOID_MS = 600_000;
/** And after one away from a node on which pods fail. */
export const LONG_AVOID_MS = 3_600_000;

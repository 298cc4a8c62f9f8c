import type { Because } from '#shared/domain/model/because.ts';
import type { OwnerKey } from '#shared/domain/pod/pod-owner.ts';
import type { Guesser } from './guess-placement.ts';
import type { PastMove, ReschedulingMemory } from './memory.ts';
import type { OwnerGroup } from './owner-groups.ts';
import type { PassCluster, PassNode } from './pass-cluster.ts';
import type { PolicyKind, ReschedulingPolicy } from './policy.ts';
import type { PassRestraints, LimitsOf } from './restraint.ts';
import type { MoveRules, MovablePod } from './running-pod.ts';
import type { Arrival } from './spread-scores.ts';

/** What a pass decides on. */
export interface PassInput {
  readonly cluster: PassCluster;
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly limitsOf: LimitsOf;
  readonly memory: ReschedulingMemory;
  /** Moves that the pass may make. */
  readonly most: number;
  /** Nodes with an avoid entry for an owner that lasts. */
  readonly avoidedBy: (owner: OwnerGroup) => ReadonlySet<string>;
  /** Whether an avoid entry can be added for a node. */
  readonly canAvoid: (node: PassNode) => boolean;
}

/** One move: an eviction whose replacement kube-scheduler is expected to place better. Nothing is promised. */
export interface Move {
  readonly policy: PolicyKind;
  readonly pod: MovablePod;
  readonly from: string;
  /** Where the replacement is expected; several nodes that score alike. */
  readonly expectedOn: readonly string[];
  readonly gain: number;
  readonly because: Because;
  readonly avoidForMs: number;
}

/** A pod that a policy would have moved, or that is protected, and why it stays. */
export interface Stay {
  readonly pod: string;
  readonly node: string;
  readonly policy: PolicyKind;
  readonly because: Because;
}

/** An owner whose pods a node does not run: no pod is evicted, its replacements are to go elsewhere. */
export interface KeepAway {
  readonly owner: OwnerKey;
  readonly node: string;
  readonly forMs: number;
  readonly because: Because;
}

/** A node that is above its target once the moves are done. */
export interface OverTarget {
  readonly node: string;
  readonly because: Because;
  /** Why it gives no pods away, whatever its pods; `undefined` where the reasons of its pods say why. */
  readonly held: Because | undefined;
}

export interface ReschedulingResult {
  readonly moves: readonly Move[];
  readonly overTarget: readonly OverTarget[];
  readonly keptAway: readonly KeepAway[];
  readonly stays: readonly Stay[];
  /** Pods that some policy looked at. */
  readonly considered: number;
  /** Sum of the squared loads of the open nodes in points, now and once the moves are done. */
  readonly unevenness: { readonly before: number; readonly after: number };
  readonly memory: ReschedulingMemory;
}

/** A pass that is being made. */
export interface Pass {
  readonly input: PassInput;
  readonly memory: ReschedulingMemory;
  readonly account: PassRestraints;
  readonly guesser: Guesser;
  readonly arrivals: Arrival[];
  readonly moves: { readonly move: Move; readonly past: PastMove }[];
  readonly stays: Stay[];
  looks: number;
  considered: number;
}

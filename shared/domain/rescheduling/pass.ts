import type { Because } from '#shared/domain/base/because.ts';
import type { OwnerKey } from '#shared/domain/pod/pod.ts';
import type { Guesser } from './guess-placement.ts';
import type { PastMove, ReschedulingMemory } from './memory.ts';
import type { OwnerGroup } from './owner-groups.ts';
import type { PassCluster, PassNode } from './pass-cluster.ts';
import type { PolicyKind, ReschedulingPolicy } from './policy.ts';
import type { PassRestraints, LimitsOf } from './restraint.ts';
import type { MoveRules, MovablePod } from './running-pod.ts';
import type { Arrival } from './spread-scores.ts';

/** The input of a pass. */
export interface PassInput {
  readonly cluster: PassCluster;
  readonly policy: ReschedulingPolicy;
  readonly rules: MoveRules;
  readonly limitsOf: LimitsOf;
  readonly memory: ReschedulingMemory;
  /** Moves that the pass may make. */
  readonly most: number;
  /** Nodes with an unexpired avoid entry for an owner. */
  readonly avoidedBy: (owner: OwnerGroup) => ReadonlySet<string>;
  /** Whether an avoid entry can be added for a node. */
  readonly canAvoid: (node: PassNode) => boolean;
}

/** One move: an eviction whose replacement kube-scheduler is expected to place better. The node is not guaranteed. */
export interface Move {
  readonly policy: PolicyKind;
  readonly pod: MovablePod;
  readonly from: string;
  /** The expected nodes of the replacement; several if they score equally. */
  readonly expectedOn: readonly string[];
  readonly gain: number;
  readonly because: Because;
  readonly avoidForMs: number;
}

/** A pod that a policy would have moved or that is protected, and why it stays. */
export interface Stay {
  readonly pod: string;
  readonly node: string;
  readonly policy: PolicyKind;
  readonly because: Because;
}

/** An owner whose pods a node refuses: no pod is evicted, but its replacements should be placed elsewhere. */
export interface KeepAway {
  readonly owner: OwnerKey;
  readonly node: string;
  readonly forMs: number;
  readonly because: Because;
}

/** A node that is above its target after the moves. */
export interface OverTarget {
  readonly node: string;
  readonly because: Because;
  /** Why no pod of the node is moved; `undefined` if each pod has its own reason. */
  readonly held: Because | undefined;
}

export interface ReschedulingResult {
  readonly moves: readonly Move[];
  readonly overTarget: readonly OverTarget[];
  readonly keptAway: readonly KeepAway[];
  readonly stays: readonly Stay[];
  /** Pods that some policy examined. */
  readonly considered: number;
  /** Sum of the squared loads of the open nodes in points, now and after the moves. */
  readonly unevenness: { readonly before: number; readonly after: number };
  readonly memory: ReschedulingMemory;
}

/** A pass in progress. */
export interface ReschedulingPass {
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

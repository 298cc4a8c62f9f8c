import type { Because } from '#shared/domain/base/because.ts';
import type { RunningGang } from '#shared/domain/gang/gang-cost.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { QueueAmounts } from './queue.ts';

/** A pod as queues see it: what was recorded when it was let in, not its current class or labels (S2-35). */
export interface QueuePod {
  readonly uid: string;
  /** `namespace/name`. */
  readonly name: string;
  readonly queue: string;
  /**
   * Its pods may be in several queues, so the name must be unique in the cluster: a name chosen by a tenant includes
   * its namespace.
   */
  readonly application: string;
  readonly priority: number;
  readonly requests: QueueAmounts;
  /** The first or managing pod of its application (S2-6). */
  readonly isOriginator: boolean;
  /** Its DaemonSet binds it to one node; known from the account that created it, not from its ownerReference. */
  readonly isDaemonSet: boolean;
}

/** The namespace and the name of its object. */
export function podAddress({ name: key }: Pick<QueuePod, 'name'>): {
  readonly namespace: string;
  readonly name: string;
} {
  const [namespace = '', name = ''] = key.split('/');
  return { namespace, name };
}

/** A pod that waits to be let in, or was let in and has no node. */
export interface WaitingPod extends QueuePod {
  readonly waitingSince: Instant;
  /** Its class allows it to preempt (S2-31). */
  readonly mayPreempt: boolean;
  /** Every quota of its namespace has counted it (S2-37). */
  readonly isCharged: boolean;
  /** Only for the pod of a DaemonSet. */
  readonly node?: string;
  /** It goes in against a pod that its Deployment replaces: what its queue uses before, of the types that are full. */
  readonly against?: QueueAmounts;
  /** What it stands for: the pods of a gang, which wait and go in as one, with what they request together. */
  readonly members?: readonly WaitingPod[];
  /** Why it does not go in now although its queue may have room for it. */
  readonly keptBack?: Because;
  /** The one for its gang, with which it waits. */
  readonly gang?: WaitingPod;
  /** It replaces a pod that was recently disrupted for a reason other than reclaim (S3-45). */
  readonly goesFirst?: boolean;
  /** Others of a strict queue go in before it if it cannot. */
  readonly letsPass?: boolean;
  /** The gang with which it goes in: as many of its pods as `min` run together. */
  readonly letInAs?: { readonly name: string; readonly min: number };
}

/** A pod on a node. */
export interface RunningPod extends QueuePod {
  /** False if it asked to be spared: such a pod is evicted only if no other set of pods is enough (S2-9). */
  readonly mayBePreempted: boolean;
  /** `undefined` if it has a node and has not started. */
  readonly startedAt: Instant | undefined;
  /** A controller will recreate it. */
  readonly hasController: boolean;
  /** When a pod of the same owner was last disrupted. */
  readonly ownerDisruptedAt: Instant | undefined;
  /** Names of the budgets and limits that count it. */
  readonly budgets: readonly string[];
  /** The grace period that it gets; absent if it is the pod's own. */
  readonly graceSeconds?: number;
  /** The gang that is lost without it, and its node, which need not be that of the other victims. */
  readonly ofGang?: RunningGang<RunningPod>;
  readonly node?: string;
  /** A member of a gang that may not be evicted, so that its gang is not either. */
  readonly isKept?: boolean;
}

/**
 * Orders pods by which is evicted first: lower priority, not started before running, shortest running time, owner
 * disrupted longest ago, with a controller, UID. Decision D-15 and mechanisms S3-8, S4-11 to S4-13.
 */
export function compareGoingFirst(a: RunningPod, b: RunningPod): number {
  return (
    a.priority - b.priority ||
    descending(a.startedAt ?? Infinity, b.startedAt ?? Infinity) ||
    descending(-(a.ownerDisruptedAt ?? -Infinity), -(b.ownerDisruptedAt ?? -Infinity)) ||
    Number(b.hasController) - Number(a.hasController) ||
    compareUids(a, b)
  );
}

/** Infinity minus itself is NaN. */
function descending(a: number, b: number): number {
  if (a === b) return 0;
  return a > b ? -1 : 1;
}

function compareUids(a: RunningPod, b: RunningPod): number {
  if (a.uid === b.uid) return 0;
  return a.uid < b.uid ? -1 : 1;
}

/** Which pods come last regardless of priority: willing pods, willing originators, spared pods, spared originators. */
export function sparedRank({ mayBePreempted, isOriginator }: RunningPod): number {
  return (mayBePreempted ? 0 : 2) + (isOriginator ? 1 : 0);
}

import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { ownerOf } from '#shared/domain/pod/pod-owner.ts';

/** A pod that a scheduler preempted, and the pod that it made room for. */
export interface Displacement {
  readonly at: Instant;
  readonly node: string;
  readonly preemptor: Contender;
  readonly victim: Contender;
}

/** A pod as one side of a preemption. */
export interface Contender {
  readonly uid: string;
  /** Owner of the pod, or the pod itself. */
  readonly party: string;
}

/** What recreates a pod: its controller as `namespace/Kind/name`, or, where it has none, the pod by its name. */
export function contenderOf(pod: Pod): Contender {
  return { uid: pod.uid, party: ownerOf(pod) ?? `${pod.namespace}/Pod/${pod.name}` };
}

import type { Pod } from '#shared/domain/pod/pod.ts';
import { isMirrorOfNode } from './protection.ts';

/** What is asked about the pods of a node. */
export interface PodKinds {
  readonly optedOut: (pod: Pod) => boolean;
  readonly isDaemonSetPod: (pod: Pod) => boolean;
}

/**
 * Whether a node holds only pods that opted out of preemption, pods of DaemonSets and mirrors of static pods. A pod of a
 * DaemonSet can run on no other node, so there it may preempt those that opted out. Mechanism S2-29.
 */
export function isLastResort(podsOfNode: readonly Pod[], { optedOut, isDaemonSetPod }: PodKinds): boolean {
  return podsOfNode.every((pod) => isMirrorOfNode(pod) || optedOut(pod) || isDaemonSetPod(pod));
}

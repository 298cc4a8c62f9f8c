import { isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { isMirrorOfNode } from './protection.ts';

/**
 * Whether a node holds only pods that opted out of preemption, pods of DaemonSets and mirrors of static pods. A pod of a
 * DaemonSet can run on no other node, so there it may preempt those that opted out. Mechanism S2-29.
 */
export function isLastResort(podsOfNode: readonly Pod[], optedOut: (pod: Pod) => boolean): boolean {
  return podsOfNode.every((pod) => isDaemonSetPod(pod) || isMirrorOfNode(pod) || optedOut(pod));
}

import type { RunningPod } from './stage-cluster.ts';

/** No pod that comes, where it can preempt others, has less. */
export const TOP = 100;
/** How a pod leaves that never ends by itself. */
export const FOREVER = { graceSeconds: 3_600 };
/** Of the slow pod in a cluster where no other pod leaves: above the pods that can be preempted on other nodes. */
export const ABOVE_OTHER_VICTIMS = 90;
/** Beside the slow pod there is enough room for the pods that come. */
export const SLOW_NODE = { name: 'n0', cpu: 8 };

/**
 * What most seeds do not have by chance, for pods that are as small as those that run.
 *
 * - `oneSlow`: one node has a pod that takes forever to terminate, and no other pod leaves. kube-scheduler preempts the pods
 *   beside it. Their node must neither look dearer than others because of it, nor be waited for.
 * - `leastProtected`: the least important pod of each node is protected, no pod leaves, and the model knows all.
 *   kube-scheduler proposes the protected ones, so the extender has to name the next ones.
 */
export type Shape = 'oneSlow' | 'leastProtected';
/** By the remainder of the seed. */
export const SHAPES: ReadonlyMap<number, Shape> = new Map([
  [4, 'oneSlow'],
  [1, 'leastProtected'],
]);

/**
 * The most important pod that the pods which come outrank has an hour to terminate, and takes longer: waiting would be in
 * vain. The others are less important than all pods elsewhere, so kube-scheduler preempts them, unless the slow pod is
 * counted among the victims.
 */
export function withSlow(pods: readonly RunningPod[], priority?: number): readonly RunningPod[] {
  const [first] = pods.filter(({ priority }) => priority < TOP).toSorted((a, b) => b.priority - a.priority);
  return pods.map((each) =>
    each === first
      ? { ...each, priority: priority ?? each.priority, isProtected: false, leaving: FOREVER }
      : { ...each, priority: each.priority < TOP ? each.priority - TOP : each.priority },
  );
}

/** Instead of the pods that are protected by chance. */
export function withLeastProtected(pods: readonly RunningPod[]): readonly RunningPod[] {
  const [least] = pods.filter(({ leaving }) => leaving === undefined).toSorted((a, b) => a.priority - b.priority);
  return pods.map((each) => ({ ...each, isProtected: each === least }));
}

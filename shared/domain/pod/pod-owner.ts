import type { Owner, Pod } from './pod.ts';

/** The controller that would recreate the pod; `undefined` if there is none. */
export function controllerOf({ owners }: Pick<Pod, 'owners'>): Owner | undefined {
  return owners.find(({ isController }) => isController);
}

/** The same as `namespace/Kind/name`. */
export function ownerOf(pod: Pod): string | undefined {
  const controller = controllerOf(pod);
  return controller && `${pod.namespace}/${controller.kind}/${controller.name}`;
}

/** Whether a DaemonSet created the pod, for one node. */
export function isDaemonSetPod(pod: Pod): boolean {
  return isDaemonSet(controllerOf(pod));
}

/**
 * Anyone may name any owner for a pod. Under the API group of DaemonSets the garbage collector ends a pod whose owner
 * does not exist; of a group that it does not know it leaves the pod alone.
 */
function isDaemonSet(owner: Owner | undefined): boolean {
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
}

import type { Owner, Pod } from './pod.ts';

/** The controller that would recreate the pod, as `namespace/Kind/name`; `undefined` if there is none. */
export function ownerOf({ namespace, owners }: Pod): string | undefined {
  const controller = owners.find((owner) => owner.isController);
  return controller && `${namespace}/${controller.kind}/${controller.name}`;
}

/** Whether a DaemonSet created the pod, for one node. */
export function isDaemonSetPod({ owners }: Pod): boolean {
  return isDaemonSet(owners.find(({ isController }) => isController));
}

/**
 * Anyone may name any owner for a pod. Under the API group of DaemonSets the garbage collector ends a pod whose owner
 * does not exist; of a group that it does not know it leaves the pod alone.
 */
export function isDaemonSet(owner: Owner | undefined): boolean {
  return owner?.kind === 'DaemonSet' && owner.apiVersion === 'apps/v1';
}

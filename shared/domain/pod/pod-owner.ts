import type { Pod } from './pod.ts';

/** The controller that would recreate the pod, as `namespace/Kind/name`; `undefined` if there is none. */
export function ownerOf({ namespace, owners }: Pod): string | undefined {
  const controller = owners.find((owner) => owner.isController);
  return controller && `${namespace}/${controller.kind}/${controller.name}`;
}

import type { Pod } from '#shared/domain/model/pod.ts';

/** Who makes the pod again when it is gone, as `namespace/Kind/name`; `undefined` if nobody does. */
export function ownerOf({ namespace, owners }: Pod): string | undefined {
  const controller = owners.find((owner) => owner.isController);
  return controller && `${namespace}/${controller.kind}/${controller.name}`;
}

import type { Owner, Pod } from '#shared/domain/model/pod.ts';

/** Who makes the pod again when it is gone. */
export function controllerOf(pod: Pod): Owner | undefined {
  return pod.owners.find((owner) => owner.isController);
}

import { QUEUE_GATE } from '#shared/kube/api-names.ts';
import { fieldOf, itemsOf } from '#shared/kube/kube-object.ts';
import type { Manifest } from '#cli/manifests/parse-manifests.ts';

/** Whether the scheduling gate of queues holds a pod back. */
export function isWaiting(pod: Manifest): boolean {
  return gatesOf(pod).includes(QUEUE_GATE);
}

/** The names of a pod's scheduling gates. */
export function gatesOf({ raw }: Manifest): readonly string[] {
  return itemsOf(fieldOf(raw['spec'], 'schedulingGates')).map((gate) => String(fieldOf(gate, 'name')));
}

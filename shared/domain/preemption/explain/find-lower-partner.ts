import { finish } from '#shared/domain/model/steps.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { prepareIncoming, selectsOther } from '#shared/domain/preemption/filters/incoming-terms.ts';
import type { PrefilterState } from '#shared/domain/preemption/trial/prefilter-state.ts';

/**
 * The most important pod of lower priority on a node that the incoming pod requires to be with: preemption takes lower
 * pods off before it looks whether the pod fits, so the affinity is not met. For explanations. Mechanism S1-20.
 */
export function findLowerPartner({ snapshot, pod, priority }: PrefilterState, entry: NodeEntry): PlacedPod | undefined {
  const incoming = finish(prepareIncoming(pod, snapshot));
  if (incoming.affinity.length === 0) return undefined;
  return entry.occupancy.pods.find(
    (placed) =>
      placed.priority < priority && incoming.affinity.every((term) => selectsOther(incoming, term, placed.pod)),
  );
}

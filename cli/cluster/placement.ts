import type { Pod } from '#shared/domain/pod/pod.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import { type Placement, type SchedulerSetup, simulatePlacement } from '#shared/simulation/placement.ts';
import type { ClusterModel } from './cluster-model.ts';

/** What kube-scheduler would do with a pod in this cluster. */
export function placementOf(model: ClusterModel, pod: Pod, setup: Omit<SchedulerSetup, 'nominatedSince'>): Placement {
  return simulatePlacement(model, pod, { ...setup, nominatedSince: nominatedSince(model) });
}

/**
 * Since when pods of the cluster are nominated: when the manager of `status.nominatedNodeName` last wrote its fields, by
 * `metadata.managedFields`.
 */
export function nominatedSince({ podManifests }: ClusterModel): (pod: Pod) => string | undefined {
  return ({ namespace, name }) => {
    const raw = podManifests.get(`${namespace}/${name}`)?.raw;
    const entries = fieldOf(fieldOf(raw, 'metadata'), 'managedFields');
    const writer = (Array.isArray(entries) ? (entries as readonly unknown[]) : []).find(
      (each) => fieldOf(fieldOf(fieldOf(each, 'fieldsV1'), 'f:status'), 'f:nominatedNodeName') !== undefined,
    );
    const time = fieldOf(writer, 'time');
    return typeof time === 'string' ? time : undefined;
  };
}

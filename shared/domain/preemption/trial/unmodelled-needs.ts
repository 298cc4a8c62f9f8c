import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { scheduledAmounts } from '#shared/domain/pod/scheduled-resources.ts';
import { isExtendedResource } from '#shared/domain/quantity/resource-name.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';

/** Something that a pod needs of its node and that no filter of this model knows. */
export interface UnmodelledNeed {
  readonly kind: 'Volume' | 'ResourceClaim' | 'ExtendedResource';
  /** Of the volume or claim as the pod calls it, or of the resource. */
  readonly name: string;
}

/** Volumes that no plugin of kube-scheduler looks at: they limit neither the nodes nor the pods beside them. */
const FREE_VOLUMES: ReadonlySet<string> = new Set([
  'configMap',
  'downwardAPI',
  'emptyDir',
  'gitRepo',
  'hostPath',
  'image',
  'nfs',
  'projected',
  'secret',
]);
const DEVICE_CLASS_PREFIX = 'deviceclass.resource.kubernetes.io/';

/**
 * What the pod needs beyond the model: volumes that are attached or bound to places, dynamic resource claims, and
 * resources that no node advertises, which a DeviceClass may back. Whether such a pod fits on a node, and which pods have
 * to leave for it, kube-scheduler knows alone. Empty for a pod that the model knows all about.
 * `pkg/scheduler/framework/plugins`: nodevolumelimits, volumebinding, volumerestrictions, volumezone, dynamicresources.
 */
export function unmodelledNeeds(pod: Pod, { columns }: Pick<ClusterSnapshot, 'columns'>): readonly UnmodelledNeed[] {
  const { resourceClaims, volumes } = pod.spec;
  const requested = Array.from(scheduledAmounts(podRequests(pod)), ([name, amount]) => (amount > 0 ? name : ''));
  return [
    ...volumes.flatMap(({ name, source }) => (FREE_VOLUMES.has(source) ? [] : [{ kind: 'Volume' as const, name }])),
    ...resourceClaims.map((name) => ({ kind: 'ResourceClaim' as const, name })),
    ...requested
      .filter((name) => isOfDevices(name) && !columns.indexes.has(name))
      .map((name) => ({ kind: 'ExtendedResource' as const, name })),
  ];
}

function isOfDevices(resource: string): boolean {
  return resource.startsWith(DEVICE_CLASS_PREFIX) || isExtendedResource(resource);
}

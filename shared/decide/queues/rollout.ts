import { controllerOf, type Pod } from '#shared/domain/pod/pod.ts';

/** A Deployment by namespace and name, and the revision of one of its pods. */
export interface Rollout {
  readonly deployment: string;
  readonly revision: string;
}

const LABEL_REVISION = 'pod-template-hash';
/** Which rollout the pod is of, by the names that the controllers of Deployments give. */
export function rolloutOf(pod: Pick<Pod, 'namespace' | 'labels' | 'owners'>): Rollout | undefined {
  const revision = pod.labels.get(LABEL_REVISION);
  if (revision === undefined) return undefined;
  const owner = controllerOf(pod);
  if (owner?.kind !== 'ReplicaSet' || !owner.name.endsWith(`-${revision}`)) return undefined;
  const name = owner.name.slice(0, -revision.length - 1);
  return { deployment: `${pod.namespace}/${name}`, revision };
}

/** Whether the owner of the pod deleted it: neither an eviction nor a preemption. */
export function isDeletedByOwner(pod: Pick<Pod, 'deletion' | 'status'>): boolean {
  if (pod.deletion === undefined) return false;
  return !pod.status.conditions.some(({ type, status }) => type === 'DisruptionTarget' && status === 'True');
}

import { isDisrupted } from '#shared/domain/pod/pod-conditions.ts';
import { controllerOf, isBound, type Pod } from '#shared/domain/pod/pod.ts';
import { namedNodes } from '#shared/domain/placement/filters/node-filters.ts';

/** What is rolled out, and the revision of one of its pods. */
export interface Rollout {
  /** `Deployment shop/web`; of a DaemonSet the pods of one node: `DaemonSet shop/logs on node-1`. */
  readonly of: string;
  readonly revision: string;
}

/** A rollout has ended by then, or its pods are there to stay. */
export const ROLLOUT_MS = 900_000;
const LABEL_TEMPLATE = 'pod-template-hash';
const LABEL_REVISION = 'controller-revision-hash';

const DELETING_FIRST: ReadonlySet<string> = new Set(['StatefulSet', 'DaemonSet']);

type RolledOut = Pick<Pod, 'namespace' | 'labels' | 'owners' | 'spec'>;

/** Which rollout the pod is of, by the names that the controllers of Deployments and DaemonSets give. */
export function rolloutOf(pod: RolledOut): Rollout | undefined {
  const owner = controllerOf(pod);
  if (owner?.kind === 'DaemonSet') return ofDaemonSet(pod, owner.name);
  const revision = pod.labels.get(LABEL_TEMPLATE);
  if (owner?.kind !== 'ReplicaSet' || revision === undefined || !owner.name.endsWith(`-${revision}`)) return undefined;
  const name = owner.name.slice(0, -revision.length - 1);
  return { of: `Deployment ${pod.namespace}/${name}`, revision };
}

/** A pod of a DaemonSet replaces one of its own node. */
function ofDaemonSet(pod: RolledOut, name: string): Rollout | undefined {
  const revision = pod.labels.get(LABEL_REVISION);
  const node = isBound(pod) ? pod.spec.nodeName : onlyNode(pod);
  if (revision === undefined || node === undefined) return undefined;
  return { of: `DaemonSet ${pod.namespace}/${name} on ${node}`, revision };
}

function onlyNode(pod: Pick<Pod, 'spec'>): string | undefined {
  const [node, ...others] = namedNodes(pod) ?? [];
  return others.length === 0 ? node : undefined;
}

/** By what the share of a deleted pod is kept: its Deployment, else its owner; `undefined` where nothing replaces it. */
export function placeKeyOf(pod: RolledOut): string | undefined {
  const owner = controllerOf(pod);
  if (owner === undefined) return undefined;
  if (DELETING_FIRST.has(owner.kind)) return owner.uid;
  return owner.kind === 'ReplicaSet' ? rolloutOf(pod)?.of : undefined;
}

/** Whether the owner of the pod deleted it: neither an eviction nor a preemption. */
export function isDeletedByOwner(pod: Pick<Pod, 'deletion' | 'status'>): boolean {
  return pod.deletion !== undefined && !isDisrupted(pod);
}

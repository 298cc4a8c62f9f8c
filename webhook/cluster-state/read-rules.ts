import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-priority-class.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { PRIORITY_CLASSES, PRIORITY_POLICIES } from '#shared/kube/resource.ts';
import { listReadable } from './list-readable.ts';

export type Rules = Pick<ClusterState, 'classes' | 'policies'>;

/** Classes and policies from the API server itself. Rejects when they cannot be read. */
export async function readRules(client: KubeClient, timeoutMs: number): Promise<Rules> {
  const [classes, policies] = await Promise.all([
    listReadable(client, { resource: PRIORITY_CLASSES }, decodePriorityClass, timeoutMs),
    listReadable(client, { resource: PRIORITY_POLICIES }, decodePriorityPolicy, timeoutMs),
  ]);
  return { classes: new Map(classes.map((each) => [each.name, each])), policies: policies.toSorted(byName) };
}

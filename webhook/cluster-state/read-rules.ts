import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePriorityClass } from '#shared/kube/decode/decode-objects.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { decodePriorityPolicy } from '#shared/api/priority-policy.ts';
import { PRIORITY_CLASSES, PRIORITY_POLICIES, PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { listReadable } from './list-readable.ts';

export type Rules = Pick<ClusterState, 'classes' | 'policies' | 'priorityQuotas'>;

/** Classes, policies and quotas from the API server itself. Rejects when they cannot be read. */
export async function readRules(client: KubeClient, timeoutMs: number): Promise<Rules> {
  const [classes, policies, priorityQuotas] = await Promise.all([
    listReadable(client, { resource: PRIORITY_CLASSES }, decodePriorityClass, timeoutMs),
    listReadable(client, { resource: PRIORITY_POLICIES }, decodePriorityPolicy, timeoutMs),
    listReadable(client, { resource: PRIORITY_QUOTAS }, decodePriorityQuota, timeoutMs),
  ]);
  return {
    classes: new Map(classes.map((each) => [each.name, each])),
    policies: policies.toSorted(byName),
    priorityQuotas: priorityQuotas.toSorted(byName),
  };
}

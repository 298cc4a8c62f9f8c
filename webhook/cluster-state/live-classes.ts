import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { byName } from '#shared/domain/model/compare-texts.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePriorityQuota } from '#shared/api/priority-quota.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { listReadable } from './list-readable.ts';
import { readRules } from './read-rules.ts';
import type { StateReader } from './cached-state.ts';

/**
 * Reads classes and our objects that name them, so that no request is refused because of a policy that was just
 * deleted.
 */
export function createLiveClassesReader(
  client: KubeClient,
  cluster: StateReader,
  timeoutMs: number,
): () => Promise<ClusterState> {
  return async () => {
    const [rules, priorityQuotas] = await Promise.all([
      readRules(client, timeoutMs),
      listReadable(client, { resource: PRIORITY_QUOTAS }, decodePriorityQuota, timeoutMs),
    ]);
    return { ...cluster(), ...rules, priorityQuotas: priorityQuotas.toSorted(byName) };
  };
}

import type { AdmissionWorld } from '#shared/domain/admission/cluster-state.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodePriorityQuota } from '#shared/kube/decode-priority-quota.ts';
import { PRIORITY_QUOTAS } from '#shared/kube/resource.ts';
import { readAll } from './list-readable.ts';
import { readRules } from './read-rules.ts';
import { byName, type WorldReader } from './cached-state.ts';

/** Reads classes and whatever of ours names them, so that nobody is refused for a policy that has just gone. */
export function createLiveClassesReader(
  client: KubeClient,
  world: WorldReader,
  timeoutMs: number,
): () => Promise<AdmissionWorld> {
  return async () => {
    const [rules, priorityQuotas] = await Promise.all([
      readRules(client, timeoutMs),
      readAll(client, { resource: PRIORITY_QUOTAS }, decodePriorityQuota, timeoutMs),
    ]);
    return { ...world(), ...rules, priorityQuotas: priorityQuotas.toSorted(byName) };
  };
}

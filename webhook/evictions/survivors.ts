import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';

/** A pod whose eviction was allowed. */
interface EvictedPod {
  readonly namespace: string;
  readonly pod: string;
  readonly uid: string;
}

/** Limits how many pods are read for one decision. */
const MAX_LOOKED_AT = 16;

/**
 * The UIDs of those among the last evicted pods that still run and are not terminating: something else refused their
 * eviction. A pod that cannot be read is left out.
 */
export async function findSurvivors(
  client: KubeClient,
  evicted: readonly EvictedPod[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const last = evicted.slice(-MAX_LOOKED_AT);
  const found = await Promise.all(last.map((each) => isUnharmed(client, each, timeoutMs)));
  return new Set(last.filter((_, index) => found[index]).map(({ uid }) => uid));
}

async function isUnharmed(
  client: KubeClient,
  { namespace, pod, uid }: EvictedPod,
  timeoutMs: number,
): Promise<boolean> {
  const found = await getObject(client, { resource: PODS, namespace, name: pod }, { timeoutMs });
  if (found.kind !== 'ok') return false;
  const { metadata } = found.object;
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}

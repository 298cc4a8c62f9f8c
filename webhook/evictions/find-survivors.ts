import type { CountedEviction } from '#shared/domain/eviction/count-eviction.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';

/** The UIDs of the evicted pods that still run and are not terminating; a pod that cannot be read is left out. */
export async function findSurvivors(
  client: KubeClient,
  evictions: readonly CountedEviction[],
  timeoutMs: number,
): Promise<ReadonlySet<string>> {
  const found = await Promise.all(evictions.map((each) => isUnharmed(client, each, timeoutMs)));
  return new Set(evictions.filter((_, index) => found[index]).map(({ uid }) => uid));
}

async function isUnharmed(
  client: KubeClient,
  { namespace, pod, uid }: CountedEviction,
  timeoutMs: number,
): Promise<boolean> {
  const found = await getObject(client, { resource: PODS, namespace, name: pod }, { timeoutMs });
  if (found.kind !== 'ok') return false;
  const { metadata } = found.object;
  return metadata.uid === uid && metadata.deletionTimestamp === undefined;
}

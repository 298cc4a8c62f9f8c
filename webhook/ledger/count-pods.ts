import { chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import { createPodCounter, type CountedPod, type PodCount } from '#shared/domain/quota/pod-count.ts';
import { countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodeNamespace } from '#shared/kube/decode-namespace.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/objects.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/wire-names.ts';

const PAGE_SIZE = 500;
/** With more namespaces than this, one long list is cheaper than a short one for each. */
const MOST_LISTS = 50;

/**
 * Counts every pod that a quota counts, in the namespaces where it is in force, read from storage and not from a cache.
 * Rejects when any part of that cannot be read: a list with a hole would give room away.
 */
export async function countPods(client: KubeClient, quota: PriorityQuota): Promise<PodCount> {
  const counter = createPodCounter(quota.hard);
  const namespaces = await namespacesInForce(client, quota);
  for (const collection of collectionsOf(namespaces)) {
    for await (const raw of eachObject(client, collection)) {
      if (!namespaces.has(raw.metadata.namespace ?? '')) continue;
      const counted = countedPod(raw, quota);
      if (counted !== undefined) counter.add(counted);
    }
  }
  return counter.count();
}

function collectionsOf(namespaces: ReadonlySet<string>): readonly CollectionAddress[] {
  if (namespaces.size > MOST_LISTS) return [{ resource: PODS }];
  return Array.from(namespaces, (namespace) => ({ resource: PODS, namespace }));
}

async function namespacesInForce(client: KubeClient, quota: PriorityQuota): Promise<ReadonlySet<string>> {
  const labelSelector = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;
  const names = new Set<string>();
  for await (const raw of eachObject(client, { resource: NAMESPACES }, labelSelector)) {
    const namespace = decodeNamespace(raw);
    if (namespace.ok && quota.namespaces.matches(namespace.value.labels)) names.add(namespace.value.name);
  }
  return names;
}

function countedPod(raw: KubeObject, quota: PriorityQuota): CountedPod | undefined {
  const pod = decodePod(raw);
  if (!pod.ok) throw new Error(`Could not count pod "${raw.metadata.name ?? ''}": ${pod.field}: ${pod.message}`);
  if (!countsPod(quota.scope, pod.value)) return undefined;
  const { uid, namespace } = pod.value;
  const { generation } = raw.metadata;
  return { uid, namespace, amounts: chargeToPriorityQuota(pod.value), ...(generation !== undefined && { generation }) };
}

/** Without a resourceVersion the first page is what storage holds now, and the others belong to the same moment. */
async function* eachObject(
  client: KubeClient,
  collection: CollectionAddress,
  labelSelector?: string,
): AsyncGenerator<KubeObject> {
  let continueToken: string | undefined;
  do {
    const options = {
      limit: PAGE_SIZE,
      ...(labelSelector !== undefined && { labelSelector }),
      ...(continueToken !== undefined && { continueToken }),
    };
    const page = await listObjects(client, collection, options);
    if (page.kind !== 'ok') throw new Error(`Could not list ${collection.resource.plural}: ${page.message}`);
    yield* page.object.items;
    continueToken = page.object.continueToken;
  } while (continueToken !== undefined);
}

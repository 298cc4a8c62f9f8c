import { charge } from '#shared/domain/quota/charge.ts';
import type { CountedPod } from '#shared/domain/quota/ledger.ts';
import { countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { KubeClient } from '#shared/kube/client.ts';
import { decodeNamespace } from '#shared/kube/decode-namespace.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/objects.ts';
import { NAMESPACES, PODS } from '#shared/kube/resource.ts';
import { LABEL_PRIORITY_QUOTA, PRIORITY_QUOTA_ENFORCED } from '#shared/kube/wire-names.ts';

const PAGE_SIZE = 500;
/** Deletions count until the pod is gone: a clock that runs ahead must not give room back too early. */
const BEFORE_ANY_DELETION = 0;

/**
 * Every pod that a quota counts, in the namespaces where it is in force, read from storage and not from a cache.
 * Rejects when any part of that cannot be read: a list with a hole would give room away.
 */
export async function listCountedPods(client: KubeClient, quota: PriorityQuota): Promise<readonly CountedPod[]> {
  const pods: CountedPod[] = [];
  for (const namespace of await namespacesInForce(client, quota)) {
    for await (const raw of eachObject(client, { resource: PODS, namespace })) {
      const counted = countPod(raw, quota);
      if (counted !== undefined) pods.push(counted);
    }
  }
  return pods;
}

async function namespacesInForce(client: KubeClient, quota: PriorityQuota): Promise<readonly string[]> {
  const labelSelector = `${LABEL_PRIORITY_QUOTA}=${PRIORITY_QUOTA_ENFORCED}`;
  const names: string[] = [];
  for await (const raw of eachObject(client, { resource: NAMESPACES }, labelSelector)) {
    const namespace = decodeNamespace(raw);
    if (namespace.ok && quota.namespaces.matches(namespace.value.labels)) names.push(namespace.value.name);
  }
  return names;
}

function countPod(raw: KubeObject, quota: PriorityQuota): CountedPod | undefined {
  const pod = decodePod(raw);
  if (!pod.ok) throw new Error(`Could not count pod "${raw.metadata.name ?? ''}": ${pod.field}: ${pod.message}`);
  if (!countsPod(quota.scope, pod.value)) return undefined;
  const { uid, namespace } = pod.value;
  return { uid, namespace, amounts: charge(pod.value, BEFORE_ANY_DELETION) };
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

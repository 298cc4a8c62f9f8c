import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/client/objects.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * Lists all objects of a kind from the API server and skips those that cannot be decoded. Rejects when the list fails.
 */
export async function listReadable<T>(
  client: KubeClient,
  collection: CollectionAddress,
  decode: (raw: KubeObject) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const outcome = await listObjects(client, collection, { timeoutMs });
  if (outcome.kind !== 'ok') throw new Error(ERRORS.list(collection.resource.plural, outcome.message));
  return outcome.object.items.flatMap((raw) => {
    const decoded = decode(raw);
    return decoded.ok ? [decoded.value] : [];
  });
}

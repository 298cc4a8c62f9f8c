import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/client/objects.ts';

/**
 * Lists all objects of a kind from the API server and skips those that cannot be decoded. Rejects when the list fails.
 */
export async function listReadable<T>(
  client: KubeClient,
  collection: CollectionAddress,
  decode: (raw: unknown) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const outcome = await listObjects(client, collection, { timeoutMs });
  if (outcome.kind !== 'ok') throw new Error(`cannot list ${collection.resource.plural}: ${outcome.message}`);
  return outcome.object.items.flatMap((raw) => {
    const decoded = decode(raw);
    return decoded.ok ? [decoded.value] : [];
  });
}

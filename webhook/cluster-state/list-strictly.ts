import type { KubeClient } from '#shared/kube/client/client.ts';
import type { Decoded } from '#shared/kube/decode/decoded.ts';
import { listObjects, type CollectionAddress } from '#shared/kube/client/objects.ts';

/**
 * Lists all objects of a kind from the API server. Rejects when the list fails or when an object cannot be decoded: for
 * rules of which none may be missed.
 */
export async function listStrictly<T>(
  client: KubeClient,
  collection: CollectionAddress,
  decode: (raw: unknown) => Decoded<T>,
  timeoutMs: number,
): Promise<readonly T[]> {
  const { plural } = collection.resource;
  const outcome = await listObjects(client, collection, { timeoutMs });
  if (outcome.kind !== 'ok') throw new Error(`cannot list ${plural}: ${outcome.message}`);
  return outcome.object.items.map((raw) => {
    const decoded = decode(raw);
    if (decoded.ok) return decoded.value;
    throw new Error(`cannot read ${plural} "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
  });
}

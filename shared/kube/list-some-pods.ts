import { NO_KNOWN_PODS, type KnownPods } from '#shared/domain/admission/known-pods.ts';
import type { KubeClient } from './client.ts';
import { decodePod } from './decode-pod.ts';
import { listObjects, type ListOptions } from './objects.ts';
import { PODS } from './resource.ts';

/** One page: whoever holds a quota of thousands of pods is not found by reading them all. */
const MOST_PODS = 250;

/** The first pods of a namespace, where more would only make a sentence better. Never rejects: what cannot be read is not known. */
export async function listSomePods(
  client: KubeClient,
  namespace: string,
  options: Pick<ListOptions, 'labelSelector' | 'timeoutMs'> = {},
): Promise<KnownPods> {
  const outcome = await listObjects(client, { resource: PODS, namespace }, { ...options, limit: MOST_PODS });
  if (outcome.kind !== 'ok') return NO_KNOWN_PODS;
  const { items, continueToken } = outcome.object;
  const pods = items.flatMap((raw) => {
    const decoded = decodePod(raw);
    return decoded.ok ? [decoded.value] : [];
  });
  return { pods, isPartial: continueToken !== undefined };
}

import type { Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * Reads the pod that an eviction names, which the review does not contain; `undefined` if it does not exist. Rejects
 * when it cannot be read.
 */
export async function findEvictedPod(
  client: KubeClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  timeoutMs: number,
): Promise<Decoded<Pod> | undefined> {
  const outcome = await getObject(client, { resource: PODS, namespace, name }, { timeoutMs });
  if (outcome.kind === 'notFound') return undefined;
  if (outcome.kind !== 'ok') throw new Error(ERRORS.read(`pod "${namespace}/${name}"`, outcome.message));
  return decodePod(outcome.object);
}

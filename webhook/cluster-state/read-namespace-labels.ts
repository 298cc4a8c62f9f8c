import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeNamespace } from '#shared/kube/decode/decode-objects.ts';
import { getObject } from '#shared/kube/client/objects.ts';
import { NAMESPACES } from '#shared/kube/resource.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * The labels of a namespace, read from the API server; `undefined` if the namespace does not exist. Rejects when it
 * cannot be read.
 */
export async function readNamespaceLabels(
  client: KubeClient,
  name: string,
  timeoutMs: number,
): Promise<ReadonlyMap<string, string> | undefined> {
  const found = await getObject(client, { resource: NAMESPACES, name }, { timeoutMs });
  if (found.kind === 'notFound') return undefined;
  if (found.kind !== 'ok') throw new Error(ERRORS.read(`namespace "${name}"`, found.message));
  const decoded = decodeNamespace(found.object);
  if (!decoded.ok) throw new Error(ERRORS.readFields(`namespace "${name}"`, decoded.field, decoded.message));
  return decoded.value.labels;
}

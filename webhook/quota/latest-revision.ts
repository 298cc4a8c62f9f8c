import type { KubeClient } from '#shared/kube/client/client.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { PODS } from '#shared/kube/resource.ts';
import { readRevision } from '#shared/kube/kube-object.ts';
import { ERRORS } from '#webhook/messages.ts';

/**
 * The current revision of the storage: no completed change of a pod has a later one. Rejects when it cannot be read.
 */
export async function latestRevision(client: KubeClient, signal: AbortSignal): Promise<number> {
  const page = await listObjects(client, { resource: PODS }, { limit: 1, signal });
  if (page.kind !== 'ok') throw new Error(ERRORS.list('pods', page.message));
  const revision = readRevision(page.object.resourceVersion);
  if (revision !== undefined) return revision;
  throw new Error(ERRORS.followPods(page.object.resourceVersion));
}

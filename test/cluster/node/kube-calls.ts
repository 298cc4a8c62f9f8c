import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeRequest } from '#shared/kube/client/connection.ts';

/** Sends a request that must be answered well; resolves with the object. Rejects with the API server's words. */
export async function call(client: KubeClient, request: KubeRequest): Promise<unknown> {
  const outcome = await client.request(request);
  if (outcome.kind !== 'ok') throw new Error(`cannot ${request.method ?? 'GET'} ${request.path}: ${outcome.message}`);
  return outcome.object;
}

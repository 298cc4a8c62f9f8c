import { COMPONENT_NAMES, WEBHOOK_CONFIGURATION } from '#shared/kube/api-names.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { type CallOptions, patchObject } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Resource } from '#shared/kube/resource.ts';
import { liveReader, type ReadOwn } from '#webhook/cluster-state/read-own.ts';
import { registering } from '#webhook/messages.ts';

/** Replicas start together, and each writes both configurations. */
const ATTEMPTS = 4;

/**
 * Applies JSON patch operations on our configuration to the version that they were made from: a concurrent change of
 * the list could move the entries. If another writer was faster, it is read again, from the API server. Nothing is
 * written without operations, or where there is no configuration.
 */
export async function patchAsRead(
  { client, resource, read, operationsOf, ...call }: PatchAsRead & CallOptions,
  attempt = 1,
): Promise<void> {
  const address = { resource, name: WEBHOOK_CONFIGURATION };
  const current = await read(address, call);
  const operations = operationsOf(current);
  if (current === undefined || operations.length === 0) return;
  const guard = { op: 'test', path: '/metadata/resourceVersion', value: current.metadata.resourceVersion };
  const options = { ...call, type: 'json', fieldManager: COMPONENT_NAMES.webhook } as const;
  const patched = await patchObject(client, address, [guard, ...operations], options);
  // 422 is also what a failed test is answered with.
  const mayBeOutrun = patched.kind === 'invalid' || patched.kind === 'conflict';
  if (mayBeOutrun && attempt < ATTEMPTS)
    return patchAsRead({ client, resource, read: liveReader(client), operationsOf, ...call }, attempt + 1);
  expectOk(patched, registering(resource));
}

interface PatchAsRead {
  readonly client: KubeClient;
  readonly resource: Resource;
  readonly read: ReadOwn;
  readonly operationsOf: (current: KubeObject | undefined) => readonly object[];
}

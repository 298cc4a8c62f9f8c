import type { KubeClient } from '#shared/kube/client/client.ts';
import { isRecord } from '#shared/kube/kube-object.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import { NAMESPACES, type Resource, resourcePath } from '#shared/kube/resource.ts';

/**
 * Deletes everything in a namespace that is being deleted, and lets the namespace itself go once it is empty
 * (`pkg/controller/namespace/deletion`). To be called again until it is gone.
 */
export async function emptyNamespace(client: KubeClient, name: string): Promise<void> {
  const kinds = await namespacedKinds(client);
  const left = await Promise.all(kinds.map((resource) => empty(client, resource, name)));
  if (left.every((count) => count === 0)) await finalize(client, name);
}

/** How many objects of the kind are left. */
async function empty(client: KubeClient, resource: Resource, namespace: string): Promise<number> {
  const path = resourcePath(resource, { namespace });
  expectOk(await client.request({ method: 'DELETE', path }), `delete ${resource.plural}`);
  return expectOk(await listObjects(client, { resource, namespace }), `list ${resource.plural}`).items.length;
}

async function finalize(client: KubeClient, name: string): Promise<void> {
  const path = resourcePath(NAMESPACES, { name, subresource: 'finalize' });
  const body = { apiVersion: 'v1', kind: 'Namespace', metadata: { name }, spec: { finalizers: [] } };
  const outcome = await client.request({ method: 'PUT', path, body });
  if (outcome.kind !== 'notFound') expectOk(outcome, 'finalize the namespace');
}

/** Every kind that lives in namespaces and can be listed and deleted, by the server's own discovery. */
async function namespacedKinds(client: KubeClient): Promise<readonly Resource[]> {
  const groups = records(expectOk(await client.request({ path: '/apis' }), 'discover groups'), 'groups');
  const versions = groups.map((group) => textAt(group['preferredVersion'], 'groupVersion'));
  const lists = await Promise.all(['v1', ...versions].map((version) => kindsOf(client, version)));
  return lists.flat();
}

async function kindsOf(client: KubeClient, groupVersion: string): Promise<readonly Resource[]> {
  const path = groupVersion === 'v1' ? '/api/v1' : `/apis/${groupVersion}`;
  const resources = records(expectOk(await client.request({ path }), `discover ${groupVersion}`), 'resources');
  const [version = '', group = ''] = groupVersion.split('/').toReversed();
  return resources
    .filter(({ namespaced, verbs }) => namespaced === true && has(verbs, 'list') && has(verbs, 'deletecollection'))
    .map((each) => ({
      group,
      version,
      plural: textAt(each, 'name'),
      kind: textAt(each, 'kind'),
      namespaced: true,
    }));
}

function has(verbs: unknown, verb: string): boolean {
  return Array.isArray(verbs) && verbs.includes(verb);
}

function records(object: unknown, field: string): readonly Readonly<Record<string, unknown>>[] {
  const list = isRecord(object) ? object[field] : undefined;
  return Array.isArray(list) ? list.filter(isRecord) : [];
}

function textAt(object: unknown, field: string): string {
  const value = isRecord(object) ? object[field] : undefined;
  return typeof value === 'string' ? value : '';
}

import { type Resource, NAMESPACES, resourcePath } from '#shared/kube/resource.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { isRecord } from '#shared/kube/decode/wire-object.ts';
import { listObjects } from '#shared/kube/client/objects.ts';
import { expectOk } from '#shared/kube/client/outcome.ts';
import type { OwnedObject } from './wire-workloads.ts';
import type { Write } from './write.ts';

/** Objects of one kind. */
export interface Kind {
  readonly resource: Resource;
  readonly objects: readonly OwnedObject[];
}

const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/**
 * Removes objects that have lost all their owners, and handles the finalizers of orphaning and foreground deletion
 * (`pkg/controller/garbagecollector`). Owners of kinds that are not among `kinds` count as present.
 */
export function planGarbage(kinds: readonly Kind[]): readonly Write[] {
  const present = new Map(kinds.flatMap(({ objects }) => objects.map((each) => [each.metadata.uid, each] as const)));
  const known = new Set(kinds.map(({ resource }) => resource.kind));
  const all = kinds.flatMap(({ resource, objects }) => objects.map((object) => ({ resource, object })));
  const isLost = ({ metadata }: OwnedObject): boolean => {
    const owners = metadata.ownerReferences ?? [];
    return owners.length > 0 && owners.every(({ kind, uid }) => known.has(kind) && !present.has(uid));
  };
  return all.flatMap(({ resource, object }): readonly Write[] => {
    if (object.metadata.deletionTimestamp !== undefined) return finishDeletion(resource, object, all);
    return isLost(object) || isOwnerLeaving(object, present) ? [{ kind: 'delete', resource, object }] : [];
  });
}

type GarbageCandidate = Readonly<{ resource: Resource; object: OwnedObject }>;

/** Whether the owner waits until its dependents are deleted. */
function isOwnerLeaving({ metadata }: OwnedObject, present: ReadonlyMap<string | undefined, OwnedObject>): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => hasFinalizer(present.get(uid), FOREGROUND));
}

function hasFinalizer(object: OwnedObject | undefined, finalizer: string): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);
}

function finishDeletion(resource: Resource, object: OwnedObject, all: readonly GarbageCandidate[]): readonly Write[] {
  const dependents = all.filter((each) => owners(each.object).some(({ uid }) => uid === object.metadata.uid));
  if (hasFinalizer(object, ORPHAN)) {
    if (dependents.length > 0) return dependents.map((each) => disown(each, object));
    return [withoutFinalizer(resource, object, ORPHAN)];
  }
  if (hasFinalizer(object, FOREGROUND) && dependents.length === 0)
    return [withoutFinalizer(resource, object, FOREGROUND)];
  return [];
}

function owners({ metadata }: OwnedObject) {
  return metadata.ownerReferences ?? [];
}

function disown({ resource, object }: GarbageCandidate, owner: OwnedObject): Write {
  const ownerReferences = owners(object).filter(({ uid }) => uid !== owner.metadata.uid);
  return { kind: 'patch', resource, object, patch: { metadata: { ownerReferences } } };
}

function withoutFinalizer(resource: Resource, object: OwnedObject, finalizer: string): Write {
  const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  return { kind: 'patch', resource, object, patch: { metadata: { finalizers } } };
}

/**
 * Deletes everything in a namespace that is being deleted, and then the empty namespace itself
 * (`pkg/controller/namespace/deletion`). Call it again until the namespace is gone.
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

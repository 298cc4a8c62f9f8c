import type { Resource } from '#shared/kube/resource.ts';
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
 * Removes what has lost all its owners, and works off the finalizers of orphaning and foreground deletion
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

type Entry = Readonly<{ resource: Resource; object: OwnedObject }>;

/** Whether the owner waits for its dependents to go first. */
function isOwnerLeaving({ metadata }: OwnedObject, present: ReadonlyMap<string | undefined, OwnedObject>): boolean {
  return (metadata.ownerReferences ?? []).some(({ uid }) => hasFinalizer(present.get(uid), FOREGROUND));
}

function hasFinalizer(object: OwnedObject | undefined, finalizer: string): boolean {
  return object?.metadata.deletionTimestamp !== undefined && (object.metadata.finalizers ?? []).includes(finalizer);
}

function finishDeletion(resource: Resource, object: OwnedObject, all: readonly Entry[]): readonly Write[] {
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

function disown({ resource, object }: Entry, owner: OwnedObject): Write {
  const ownerReferences = owners(object).filter(({ uid }) => uid !== owner.metadata.uid);
  return { kind: 'patch', resource, object, patch: { metadata: { ownerReferences } } };
}

function withoutFinalizer(resource: Resource, object: OwnedObject, finalizer: string): Write {
  const finalizers = (object.metadata.finalizers ?? []).filter((each) => each !== finalizer);
  return { kind: 'patch', resource, object, patch: { metadata: { finalizers } } };
}

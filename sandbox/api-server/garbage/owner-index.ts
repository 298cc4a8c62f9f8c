import type { Store } from '#sandbox/api-server/storage/store.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';

/** Where an object is: its collection and key. */
export interface Place {
  readonly storage: string;
  readonly key: string;
}

/** Which objects there are by UID, and which name whom as their owner. */
export interface OwnerIndex {
  readonly find: (uid: string) => Place | undefined;
  readonly dependentsOf: (uid: string) => readonly Place[];
}

/** Follows all changes of the store. */
export function ownerIndex(store: Store): OwnerIndex {
  const alive = new Map<string, Place>();
  const dependents = new Map<string, Map<string, Place>>();

  function forget(place: Place, object: KubeObject): void {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const places = dependents.get(uid);
      places?.delete(`${place.storage} ${place.key}`);
      if (places?.size === 0) dependents.delete(uid);
    }
  }

  function remember(place: Place, object: KubeObject): void {
    for (const { uid } of object.metadata.ownerReferences ?? []) {
      const places = dependents.get(uid) ?? new Map<string, Place>();
      dependents.set(uid, places.set(`${place.storage} ${place.key}`, place));
    }
  }

  store.onChange((storage, { current, previous, isRemoval }) => {
    const place = { storage, key: current.key };
    const { uid = '' } = current.object.metadata;
    if (previous !== undefined && previous.object.metadata.ownerReferences !== current.object.metadata.ownerReferences)
      forget(place, previous.object);
    if (isRemoval) {
      alive.delete(uid);
      forget(place, current.object);
    } else {
      alive.set(uid, place);
      remember(place, current.object);
    }
  });
  return { find: (uid) => alive.get(uid), dependentsOf: (uid) => Array.from(dependents.get(uid)?.values() ?? []) };
}

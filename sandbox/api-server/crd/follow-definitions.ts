import { isDeepStrictEqual } from 'node:util';
import type { Catalog } from '#sandbox/api-server/catalog/catalog.ts';
import { DEFINITIONS } from '#sandbox/api-server/storage-names.ts';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { Definitions } from '#sandbox/api-server/schema/definitions.ts';
import type { Store } from '#sandbox/api-server/storage/store.ts';
import { fieldsAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { customTypes } from './custom-type.ts';

/** Keeps the catalog in step with the stored CustomResourceDefinitions. The objects of a deleted one go with it. */
export function followDefinitions(store: Store, catalog: Catalog, definitions: Definitions): void {
  const known = new Map<string, readonly ResourceType[]>();
  store.collection(DEFINITIONS).onChange(({ current, previous, isRemoval }) => {
    if (!isRemoval && isSameSpec(previous?.object, current.object)) return;
    for (const type of known.get(current.key) ?? []) catalog.remove(type);
    known.delete(current.key);
    if (isRemoval) {
      removeObjects(store, current.object);
      return;
    }
    const types = customTypes(current.object, definitions);
    for (const type of types) catalog.add(type);
    known.set(current.key, types);
  });
}

function isSameSpec(previous: KubeObject | undefined, current: KubeObject): boolean {
  return previous !== undefined && isDeepStrictEqual(fieldsAt(previous, 'spec'), fieldsAt(current, 'spec'));
}

function removeObjects(store: Store, definition: KubeObject): void {
  const storage = definition.metadata.name;
  for (const { object } of store.collection(storage).values()) store.remove(storage, object);
}

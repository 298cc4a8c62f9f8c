import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';
import { parseRoute } from '#sandbox/api-server/http/route.ts';
import { DEFINITIONS } from '#sandbox/api-server/storage-names.ts';
import type { ResourceType } from '#sandbox/api-server/resource-type.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { keyOf, type Revision } from '#sandbox/api-server/storage/revision.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { secondsText } from '#shared/api/fields.ts';

/** An object, of which only the name must be given. */
export type StoredObject = Record<string, unknown> & { metadata: Record<string, unknown> };

/**
 * What an API server stores, read and written without asking it, so that objects may be as wrong as an earlier version
 * let them be. By collection path, such as `/apis/scheduling.k8s.io/v1/priorityclasses`, and key: `namespace/name`, or
 * `name` where the kind has no namespaces. Watches hear of every change.
 */
export interface StoredObjects {
  readonly put: (collection: string, object: StoredObject) => void;
  readonly remove: (collection: string, key: string) => void;
  readonly get: (collection: string, key: string) => StoredObject | undefined;
  readonly all: (collection: string) => readonly StoredObject[];
}

const CRDS = fileURLToPath(new URL('../../deploy/crds/', import.meta.url));
const definitions = readdirSync(CRDS)
  .filter((name) => name.startsWith('plimsoll.dev_'))
  .map((name) => parse(readFileSync(CRDS + name, 'utf8')) as KubeObject);

/** The store of an API server, with our kinds in it. */
export function storedObjects({ store, catalog, clock }: ServerState): StoredObjects {
  for (const definition of definitions) store.put(DEFINITIONS, structuredClone(definition));

  function typeOf(collection: string): ResourceType {
    return parseRoute(catalog, collection).type;
  }

  function revisions(collection: string) {
    return store.collection(typeOf(collection).storage);
  }

  /** Events are stored in another version than most clients read. */
  function shown(collection: string, revision: Revision | undefined): StoredObject | undefined {
    return revision?.objectIn(typeOf(collection).view) as StoredObject | undefined;
  }

  function put(collection: string, object: StoredObject): void {
    const { apiVersion, kind, storage, behaviour } = typeOf(collection);
    const key = keyOf(object.metadata['namespace'] as string | undefined, String(object.metadata['name']));
    const present = store.collection(storage).get(key)?.object.metadata;
    const identity = {
      uid: present?.uid ?? `uid-of-${key}`,
      creationTimestamp: present?.creationTimestamp ?? secondsText(clock.now()),
      ...(behaviour.hasGeneration && { generation: (present?.generation ?? 0) + 1 }),
    };
    const metadata = { ...identity, ...object.metadata };
    store.put(storage, structuredClone({ apiVersion, kind, ...object, metadata }) as unknown as KubeObject);
  }

  return {
    put,
    remove: (collection, key) => {
      const present = revisions(collection).get(key);
      if (present !== undefined) store.remove(typeOf(collection).storage, present.object);
    },
    get: (collection, key) => shown(collection, revisions(collection).get(key)),
    all: (collection) =>
      revisions(collection)
        .values()
        .flatMap((revision) => shown(collection, revision) ?? []),
  };
}

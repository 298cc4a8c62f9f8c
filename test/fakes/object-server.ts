import type { ServerResponse } from 'node:http';
import jsonPatch from 'fast-json-patch';
import { failureStatus } from '#shared/http/status.ts';
import { sendJson, wireServer } from './wire-server.ts';

export type StoredObject = Record<string, unknown> & { metadata: Record<string, unknown> };

/** Lists, watches and conditional writes of any kind over HTTP, and nothing else of a Kubernetes API server. */
export interface ObjectServer {
  readonly url: string;
  /** By collection path, such as `/apis/scheduling.k8s.io/v1/priorityclasses`. */
  put(collection: string, object: StoredObject): void;
  remove(collection: string, key: string): void;
  /** Removes without telling any watch: every cache is now behind. */
  forget(collection: string, key: string): void;
  get(collection: string, key: string): StoredObject | undefined;
  all(collection: string): readonly StoredObject[];
  /** Writes so far that changed something. */
  readonly writes: { readonly method: string; readonly path: string }[];
  /** When set, every request is answered with this status. */
  failing: number | undefined;
  /** Requests for these paths are never answered. */
  silent: RegExp | undefined;
  close(): Promise<void>;
}

interface Watcher {
  readonly collection: string;
  readonly response: ServerResponse;
}

export async function objectServer(): Promise<ObjectServer> {
  const objects = new Map<string, Map<string, StoredObject>>();
  const watchers = new Set<Watcher>();
  let version = 1;

  const collectionAt = (path: string): Map<string, StoredObject> => {
    const found = objects.get(path) ?? new Map<string, StoredObject>();
    objects.set(path, found);
    return found;
  };
  const tell = (collection: string, type: string, object: StoredObject): void => {
    for (const watcher of watchers) {
      if (watcher.collection === collection) watcher.response.write(`${JSON.stringify({ type, object })}\n`);
    }
  };
  const store = (collection: string, object: StoredObject): StoredObject => {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const key = keyOf(stored);
    const type = collectionAt(collection).has(key) ? 'MODIFIED' : 'ADDED';
    collectionAt(collection).set(key, stored);
    tell(collection, type, stored);
    return stored;
  };

  const server: ObjectServer = {
    url: '',
    put: (collection, object) => void store(collection, object),
    remove: (collection, key) => {
      const object = collectionAt(collection).get(key);
      collectionAt(collection).delete(key);
      if (object !== undefined) tell(collection, 'DELETED', object);
    },
    forget: (collection, key) => void collectionAt(collection).delete(key),
    get: (collection, key) => collectionAt(collection).get(key),
    all: (collection) => [...collectionAt(collection).values()],
    writes: [],
    failing: undefined,
    silent: undefined,
    close: () => Promise.resolve(),
  };

  const wire = await wireServer((request, response, body) => {
    const url = new URL(request.url ?? '/', 'http://x');
    const method = request.method ?? 'GET';
    if (server.silent?.test(url.pathname) === true) return;
    if (server.failing === undefined && url.searchParams.get('watch') === 'true') {
      watch(url.pathname, response);
      return;
    }
    const { status, object } = answer(method, url.pathname, body);
    sendJson(response, status, object);
  });

  function answer(method: string, path: string, body: string): Reply {
    if (server.failing !== undefined) return failure(server.failing, 'failing on purpose');
    const target = resolve(path);
    if (method !== 'GET') {
      server.writes.push({ method, path });
      return write({ method, ...target, body: JSON.parse(body) as StoredObject });
    }
    if (target.name === undefined) return list(target);
    const found = collectionAt(target.collection).get(key(target.namespace, target.name));
    return found === undefined ? NOT_FOUND : { status: 200, object: found };
  }

  function watch(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const watcher = { collection: path, response };
    watchers.add(watcher);
    response.on('close', () => watchers.delete(watcher));
  }

  function list({ collection, namespace }: Target): Reply {
    const all = [...collectionAt(collection).values()];
    const items = all.filter(({ metadata }) => namespace === undefined || metadata['namespace'] === namespace);
    const metadata = { resourceVersion: String(version) };
    return { status: 200, object: { kind: 'List', apiVersion: 'v1', metadata, items } };
  }

  function write({
    method,
    collection,
    namespace,
    name,
    body,
  }: Target & { method: string; body: StoredObject }): Reply {
    const present = collectionAt(collection).get(key(namespace, name ?? String(body.metadata['name'])));
    if (method === 'POST') {
      const metadata = { ...(namespace !== undefined && { namespace }), ...body.metadata };
      return present === undefined ? { status: 201, object: store(collection, { ...body, metadata }) } : ALREADY_EXISTS;
    }
    if (present === undefined) return NOT_FOUND;
    const next = method === 'PUT' ? body : patched(present, body);
    if (next === undefined || isOutdated(next, present)) return failure(409, 'the object has been modified');
    return { status: 200, object: store(collection, next) };
  }

  return Object.assign(server, { url: wire.url, close: () => wire.close() });
}

interface Reply {
  readonly status: number;
  readonly object: unknown;
}

interface Target {
  readonly collection: string;
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

const NOT_FOUND = failure(404, 'not found');
const ALREADY_EXISTS = { status: 409, object: { ...failureStatus(409, 'exists'), reason: 'AlreadyExists' } };

function isOutdated(next: StoredObject, present: StoredObject): boolean {
  const wanted = next.metadata['resourceVersion'];
  return wanted !== undefined && wanted !== present.metadata['resourceVersion'];
}

/** JSON patches where the body is a list, merge patches of depth one below metadata, spec and status otherwise. */
function patched(present: StoredObject, body: unknown): StoredObject | undefined {
  if (Array.isArray(body)) {
    try {
      return jsonPatch.applyPatch(structuredClone(present), body as never, true).newDocument;
    } catch {
      return undefined;
    }
  }
  const changes = Object.entries(body as Record<string, object>);
  const merged = changes.map(([field, value]) => [field, { ...(present[field] as object), ...value }]);
  return { ...present, ...(Object.fromEntries(merged) as object) };
}

/** `/api/v1/namespaces/a/pods/b/status` → the collection `/api/v1/pods`, namespace `a`, name `b`. */
function resolve(path: string): Target {
  const match =
    /^(\/api\/v1|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+)(?=\/))?\/([^/]+)(?:\/([^/]+))?(?:\/\w+)?$/.exec(path);
  const [, root = '', namespace, plural = '', name] = match ?? [];
  return { collection: `${root}/${plural}`, namespace, name };
}

function keyOf({ metadata }: StoredObject): string {
  return key(metadata['namespace'] as string | undefined, String(metadata['name']));
}

function key(namespace: string | undefined, name: string): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function failure(code: number, message: string): Reply {
  return { status: code, object: failureStatus(code, message) };
}

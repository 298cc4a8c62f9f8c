import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

type Json = Readonly<Record<string, unknown>>;

export interface FakeObject extends Json {
  readonly metadata: Json & { readonly name: string; readonly namespace?: string };
}

interface Answer {
  readonly status: number;
  readonly body: Json;
}

/** One write that the agent made. */
export interface Write {
  readonly method: string;
  readonly path: string;
  readonly body: Json;
  /** When it arrived, on the clock of `performance.now()`. */
  readonly atMs: number;
}

/** As much of an API server as one agent talks to: lists and watches, evictions, events and status patches. */
export interface FakeApiServer {
  readonly url: string;
  /** Stores an object and tells watchers; `path` is that of its collection, such as `/api/v1/pods`. */
  readonly put: (path: string, object: FakeObject) => void;
  readonly remove: (path: string, name: string) => void;
  readonly writes: Write[];
  /** What the next evictions are answered with; afterwards they succeed and the pod ends. */
  readonly evictionAnswers: Answer[];
  /** How long an eviction waits for its answer. */
  evictionDelayMs: number;
  /** From now on a read of this path gives another object than lists and watches do. */
  readonly onRead: (path: string, object: FakeObject) => void;
  /** From now on evictions get no answer; resolves when the first one has arrived. */
  readonly hangEvictions: () => Promise<void>;
  /** Ends lists and watches of a collection and refuses further ones; the times of those are added to what it returns. */
  readonly refuse: (path: string) => readonly number[];
  /** Called after an eviction was accepted. */
  onEvicted: (namespace: string, name: string) => void;
  readonly close: () => Promise<void>;
}

const EVICTION = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)\/eviction$/;
const POD = /^\/api\/v1\/namespaces\/([^/]+)\/pods\/([^/]+)$/;

async function readJson(request: IncomingMessage): Promise<Json> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  return text === '' ? {} : (JSON.parse(text) as Json);
}

export async function startFakeApiServer(): Promise<FakeApiServer> {
  const collections = new Map<string, Map<string, FakeObject>>();
  const watchers = new Map<string, Set<ServerResponse>>();
  const reads = new Map<string, FakeObject>();
  const refused = new Map<string, number[]>();
  let version = 1;
  let onHanging: (() => void) | undefined;

  function collection(path: string): Map<string, FakeObject> {
    const found = collections.get(path) ?? new Map<string, FakeObject>();
    collections.set(path, found);
    return found;
  }

  function tell(path: string, type: string, object: FakeObject): void {
    for (const response of watchers.get(path) ?? []) response.write(`${JSON.stringify({ type, object })}\n`);
  }

  function put(path: string, object: FakeObject): void {
    version += 1;
    const stored = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    const type = collection(path).has(object.metadata.name) ? 'MODIFIED' : 'ADDED';
    collection(path).set(object.metadata.name, stored);
    tell(path, type, stored);
  }

  function remove(path: string, name: string): void {
    const object = collection(path).get(name);
    if (object === undefined) return;
    version += 1;
    collection(path).delete(name);
    tell(path, 'DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } });
  }

  function watch(path: string, response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const responses = watchers.get(path) ?? new Set();
    watchers.set(path, responses.add(response));
    response.on('close', () => responses.delete(response));
  }

  function refuse(path: string): readonly number[] {
    const times: number[] = [];
    refused.set(path, times);
    for (const response of watchers.get(path) ?? []) response.destroy();
    return times;
  }

  function isRefused({ method, url = '' }: IncomingMessage): boolean {
    const times = method === 'GET' ? refused.get(url.replace(/\?.*/, '')) : undefined;
    times?.push(performance.now());
    return times !== undefined;
  }

  function list(path: string): Json {
    return { kind: 'List', metadata: { resourceVersion: String(version) }, items: [...collection(path).values()] };
  }

  function evict(namespace: string, name: string, body: Json): Answer {
    const prepared = server.evictionAnswers.shift();
    if (prepared !== undefined) return prepared;
    const pod = collection('/api/v1/pods').get(name);
    if (pod === undefined) return { status: 404, body: status(404, 'NotFound') };
    const uid = (body['deleteOptions'] as { preconditions?: { uid?: string } }).preconditions?.uid;
    if (uid !== pod.metadata['uid']) return { status: 409, body: status(409, 'Conflict') };
    const deletion = { deletionTimestamp: new Date().toISOString(), deletionGracePeriodSeconds: 1 };
    put('/api/v1/pods', { ...pod, metadata: { ...pod.metadata, ...deletion } });
    server.onEvicted(namespace, name);
    return { status: 201, body: status(201, 'Success') };
  }

  function status(code: number, reason: string): Json {
    return {
      kind: 'Status',
      apiVersion: 'v1',
      code,
      reason,
      status: code < 300 ? 'Success' : 'Failure',
      message: reason,
    };
  }

  function read(path: string): Answer {
    const prepared = reads.get(path);
    if (prepared !== undefined) return { status: 200, body: prepared };
    const pod = POD.exec(path);
    const [parent, name] = pod === null ? split(path) : ['/api/v1/pods', pod[2] ?? ''];
    const object = collection(parent).get(name);
    return object === undefined ? { status: 404, body: status(404, 'NotFound') } : { status: 200, body: object };
  }

  function split(path: string): [string, string] {
    const slash = path.lastIndexOf('/');
    return [path.slice(0, slash), path.slice(slash + 1)];
  }

  function write({ method, path, body, atMs }: Write): Answer {
    server.writes.push({ method, path, body, atMs });
    const eviction = EVICTION.exec(path);
    if (eviction !== null) return evict(eviction[1] ?? '', eviction[2] ?? '', body);
    if (method === 'PATCH') return patch(path.replace(/\/status$/, ''), body);
    if (path.includes('/events')) return { status: 201, body };
    put(path, body as FakeObject);
    return { status: 201, body };
  }

  function patch(path: string, body: Json): Answer {
    const [parent, name] = split(path);
    const object = collection(parent).get(name);
    if (object === undefined) return { status: 404, body: status(404, 'NotFound') };
    put(parent, { ...object, ...body, metadata: object.metadata });
    return { status: 200, body: collection(parent).get(name) ?? {} };
  }

  function isList(path: string): boolean {
    return collections.has(path) || /\/(pods|nodes|nodepressurepolicies|nodepressures)$/.test(path);
  }

  async function answerTo(request: IncomingMessage, path: string): Promise<Answer> {
    const { method = '' } = request;
    if (method === 'GET') return isList(path) ? { status: 200, body: list(path) } : read(path);
    const atMs = performance.now();
    if (EVICTION.test(path)) await sleep(server.evictionDelayMs);
    return write({ method, path, body: await readJson(request), atMs });
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (request.method === 'GET' && url.searchParams.has('watch')) {
      watch(url.pathname, response);
      return;
    }
    if (onHanging !== undefined && EVICTION.test(url.pathname)) {
      onHanging();
      return;
    }
    const got = await answerTo(request, url.pathname);
    response.writeHead(got.status, { 'content-type': 'application/json' }).end(JSON.stringify(got.body));
  }

  const http = createServer((request, response) => {
    if (isRefused(request)) response.writeHead(503).end();
    else void answer(request, response);
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: FakeApiServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    put,
    remove,
    writes: [],
    evictionAnswers: [],
    evictionDelayMs: 0,
    onRead: (path, object) => void reads.set(path, object),
    refuse,
    hangEvictions: () => new Promise((resolve) => (onHanging = resolve)),
    onEvicted: () => undefined,
    close: () => {
      http.closeAllConnections();
      return new Promise((resolve) => http.close(() => resolve()));
    },
  };
  return server;
}

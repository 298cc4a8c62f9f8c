import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { methodNotAllowed, badRequest } from '#sandbox/api-server/errors/errors.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { createObject } from '#sandbox/api-server/operations/verbs/create.ts';
import { checkDeleteOptions, deleteObject, deleteCollection } from '#sandbox/api-server/operations/verbs/delete.ts';
import { readDeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import { listObjects } from '#sandbox/api-server/operations/verbs/list.ts';
import { patchObject } from '#sandbox/api-server/operations/verbs/patch.ts';
import { currentRevision, replaceObject } from '#sandbox/api-server/operations/verbs/update.ts';
import { keyOf, Revision } from '#sandbox/api-server/storage/revision.ts';
import { type KubeObject, fieldsAt, listAt, textAt } from '#sandbox/api-server/wire/object.ts';
import { bindPod } from '#sandbox/api-server/operations/verbs/bind.ts';
import type { ServerState, PodLogRequest } from '#sandbox/api-server/operations/server-state.ts';
import { evictPod } from '#sandbox/api-server/operations/verbs/evict.ts';
import { scaleObject } from '#sandbox/api-server/operations/verbs/scale.ts';
import { sendBytes, sendJson, warningHeaders } from './answer.ts';
import { negotiate, representation, type Representation } from './representation.ts';
import { watchObjects } from './watch.ts';

type Verb = (exchange: Exchange) => void | Promise<void>;

/** Subresources that are a part of the object itself. */
const OWN_PARTS = new Set(['', 'status', 'resize']);

/** Handles a request about objects, and answers it. */
export async function handleResource(exchange: Exchange): Promise<void> {
  const { method, name, subresource } = exchange.request;
  if (!OWN_PARTS.has(subresource)) return handleSubresource(exchange);
  const verbs = name === '' ? COLLECTION_VERBS : OBJECT_VERBS;
  const verb = verbs.get(method);
  if (verb === undefined) throw methodNotAllowed();
  await verb(exchange);
}

const COLLECTION_VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['GET', listOrWatch],
  ['POST', createOne],
  ['DELETE', deleteAll],
]);

const OBJECT_VERBS: ReadonlyMap<string, Verb> = new Map<string, Verb>([
  ['GET', getOne],
  ['PUT', async (exchange) => sendWritten(exchange, await replaceObject(exchange.server, exchange.request))],
  ['PATCH', async (exchange) => sendWritten(exchange, await patchObject(exchange.server, exchange.request))],
  ['DELETE', deleteOne],
]);

async function createOne(exchange: Exchange): Promise<void> {
  const { server, request } = exchange;
  requireNamespace(request);
  sendWritten(exchange, { object: await createObject(server, request), isNew: true });
}

async function deleteAll(exchange: Exchange): Promise<void> {
  const { server, request } = exchange;
  requireNamespace(request);
  const revisions = await deleteCollection(server, request);
  const page = { revisions, resourceVersion: String(server.store.revision), continueToken: '', remaining: undefined };
  send(exchange, 200, shower(exchange).list(page));
}

/** Lists may go over all namespaces, writes may not. */
function requireNamespace({ type, namespace }: ApiRequest): void {
  if (type.namespaced && namespace === '') throw methodNotAllowed();
}

function isWatch({ query }: ApiRequest): boolean {
  return query.get('watch') === 'true' || query.get('watch') === '1';
}

function listOrWatch(exchange: Exchange): void {
  const { server, request, response } = exchange;
  const show = shower(exchange);
  if (isWatch(request)) watchObjects(server, request, response, show);
  else send(exchange, 200, show.list(listObjects(server, request)));
}

function getOne(exchange: Exchange): void {
  const { server, request, response } = exchange;
  if (isWatch(request)) watchObjects(server, request, response, shower(exchange));
  else send(exchange, 200, shower(exchange).one(currentRevision(server, request)));
}

async function deleteOne(exchange: Exchange): Promise<void> {
  const { server, request } = exchange;
  if (request.subresource !== '') throw methodNotAllowed();
  const options = readDeleteOptions(request);
  checkDeleteOptions(options);
  const { object, isGone } = await deleteObject(server, request, { options, isOfCollection: false });
  if (isGone && !request.type.behaviour.returnsDeleted) {
    sendJson(exchange.response, 200, deletedStatus(request, object), warningHeaders(request.warnings));
    return;
  }
  sendWritten(exchange, { object, isNew: false });
}

function deletedStatus({ type, name }: ApiRequest, { metadata }: KubeObject): object {
  const group = type.group === '' ? {} : { group: type.group };
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: { name, ...group, kind: type.plural, uid: metadata.uid },
  };
}

interface Written {
  readonly object: KubeObject;
  readonly isNew: boolean;
}

/** A stored object already has its bytes; that of a dry run gets them here. */
function sendWritten(exchange: Exchange, { object, isNew }: Written): void {
  const { server, request } = exchange;
  const key = keyOf(object.metadata.namespace, object.metadata.name);
  const stored = server.store.collection(request.type.storage).get(key);
  const revision = stored?.object === object ? stored : new Revision(key, object, 0);
  send(exchange, isNew ? 201 : 200, shower(exchange).one(revision));
}

function shower({ server, request }: Exchange): Representation {
  const asked = request.query.get('includeObject') ?? '';
  const includeObject = asked === 'None' || asked === 'Object' ? asked : 'Metadata';
  return representation(negotiate(request.accept), request.type, { now: () => server.clock.now(), includeObject });
}

function send({ request, response }: Exchange, code: number, body: Buffer): void {
  sendBytes(response, code, body, {
    ...warningHeaders(request.warnings),
  });
}

/** Subresources that are not the object itself. */
async function handleSubresource(exchange: Exchange): Promise<void> {
  const { server, request, response } = exchange;
  const allowed = request.type.subresources.find(({ name }) => name === request.subresource)?.verbs ?? [];
  if (!allowed.includes(verbOf(request.method))) throw methodNotAllowed();
  if (request.subresource === 'log') return sendLog(exchange);
  const { code, body } = await carryOut(server, request);
  sendJson(response, code, body, warningHeaders(request.warnings));
}

interface RequestOutcome {
  readonly code: number;
  readonly body: object;
}

async function carryOut(server: ServerState, request: ApiRequest): Promise<RequestOutcome> {
  switch (request.subresource) {
    case 'eviction':
      await evictPod(server, request);
      return { code: 201, body: CREATED };
    case 'binding':
      await bindPod(server, request);
      return { code: 201, body: CREATED };
    case 'scale':
      return { code: 200, body: await scaleObject(server, request) };
    case 'finalize':
      return { code: 200, body: (await replaceObject(server, request)).object };
    default:
      throw methodNotAllowed();
  }
}

/** The response to a successful eviction or binding. */
const CREATED = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 } as const;

function verbOf(method: string): string {
  return { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' }[method] ?? '';
}

/** One request about objects with everything needed to answer it. */
export interface Exchange {
  readonly server: ServerState;
  readonly request: ApiRequest;
  readonly response: ServerResponse;
}

/** GET of pods/log: forwards the log from the pod's node as plain text. */
async function sendLog({ server, request, response }: Exchange): Promise<void> {
  const pod = currentRevision(server, request).object;
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  const chunks = server.podLogs(logRequest(request, pod, gone.signal))[Symbol.asyncIterator]();
  const first = await chunks.next();
  response.writeHead(200, { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' });
  response.flushHeaders();
  await pipeline(Readable.from(resumed(first, chunks)), response).catch(ignoreAbort);
}

/** The first chunk is read before the headers are sent, so that a failure can still be a Status. */
async function* resumed<T>(first: IteratorResult<T>, rest: AsyncIterator<T>): AsyncGenerator<T> {
  for (let chunk = first; chunk.done !== true; chunk = await rest.next()) yield chunk.value;
}

function ignoreAbort(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') throw error;
}

function logRequest({ query, name }: ApiRequest, pod: KubeObject, signal: AbortSignal): PodLogRequest {
  return {
    pod,
    container: containerOf(pod, query.get('container') ?? '', name),
    follow: query.get('follow') === 'true',
    previous: query.get('previous') === 'true',
    timestamps: query.get('timestamps') === 'true',
    tailLines: readCount(query, 'tailLines'),
    sinceSeconds: readCount(query, 'sinceSeconds'),
    limitBytes: readCount(query, 'limitBytes'),
    signal,
  };
}

function containerOf(pod: KubeObject, asked: string, name: string): string {
  const spec = fieldsAt(pod, 'spec');
  const names = [...listAt(spec, 'containers'), ...listAt(spec, 'initContainers')].map((container) =>
    textAt(container, 'name'),
  );
  const [first = ''] = names;
  if (asked !== '') {
    if (names.includes(asked)) return asked;
    throw badRequest(`container ${asked} is not valid for pod ${name}`);
  }
  if (names.length === 1) return first;
  throw badRequest(`a container name must be specified for pod ${name}, choose one of: [${names.join(' ')}]`);
}

function readCount(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  if (/^\d{1,12}$/.test(text)) return Number(text);
  throw badRequest(`${name}: cannot parse ${JSON.stringify(text.slice(0, 40))}, expected a whole number`);
}

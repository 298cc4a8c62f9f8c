import { methodNotAllowed } from '#sandbox/api-server/errors/errors.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { createObject } from '#sandbox/api-server/operations/verbs/create.ts';
import { checkDeleteOptions, deleteObject } from '#sandbox/api-server/operations/verbs/delete.ts';
import { deleteCollection } from '#sandbox/api-server/operations/verbs/delete-collection.ts';
import { readDeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import { listObjects } from '#sandbox/api-server/operations/verbs/list.ts';
import { patchObject } from '#sandbox/api-server/operations/verbs/patch.ts';
import { currentRevision, replaceObject } from '#sandbox/api-server/operations/verbs/update.ts';
import { keyOf, Revision } from '#sandbox/api-server/storage/revision.ts';
import type { KubeObject } from '#sandbox/api-server/wire/object.ts';
import { sendBytes, sendJson, warningHeaders } from './answer.ts';
import type { Exchange } from './exchange.ts';
import { handleSubresource } from './handle-subresource.ts';
import { negotiate } from './negotiate.ts';
import { representation, type Representation } from './representation.ts';
import { watchObjects } from './watch.ts';

type Verb = (exchange: Exchange) => void | Promise<void>;

/** Subresources that are a part of the object itself. */
const OWN_PARTS = new Set(['', 'status', 'resize']);

/** Does what a request about objects asks for, and answers it. */
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

/** A stored object has its bytes already; one of a dry run gets them here. */
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

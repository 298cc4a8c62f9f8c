import { randomUUID } from 'node:crypto';
import type { Attributes } from '#sandbox/api-server/admission/admission.ts';
import { alreadyExists, badRequest, invalid, untypedError } from '#sandbox/api-server/errors/errors.ts';
import { generateName } from '#sandbox/api-server/kinds/generate-name.ts';
import { validateMetadata } from '#sandbox/api-server/kinds/validate-metadata.ts';
import { managedFieldsOfNew, type Writer } from '#sandbox/api-server/ownership/managed-fields.ts';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';
import { copyObject, fieldsOf, type KubeObject, type ManagedFieldsEntry } from '#sandbox/api-server/wire/object.ts';
import { timeText } from '#sandbox/api-server/wire/time.ts';
import type { ApiRequest } from './api-request.ts';
import { decodeObject } from './decode-object.ts';
import { parseObjectBody } from './parse-body.ts';
import type { ServerState } from './server-state.ts';
import { readWriteOptions, type WriteOptions } from './write-options.ts';

/** A clash of a generated name is tried again this often. apiserver `pkg/registry/rest/create.go`. */
const MOST_NAMES = 8;

/** POST to a collection: returns the object as stored, in its stored version. */
export async function createObject(server: ServerState, request: ApiRequest): Promise<KubeObject> {
  const { type } = request;
  const options = readWriteOptions(request, 'CreateOptions');
  const warn = (text: string): void => void request.warnings.push(text);
  const parsed = parseObjectBody(request.body, request.contentType);
  const decoded = decodeObject(parsed, { ...type, fieldValidation: options.fieldValidation, warn });
  type.behaviour.setDefaults(decoded);
  return insertObject(server, request, type.toStorage?.(decoded) ?? decoded, { options });
}

/** How a new object is to be stored. */
interface Insertion {
  readonly options: WriteOptions;
  /** The managedFields of an applied object; others are worked out. */
  readonly owners?: ManagedFieldsEntry[] | undefined;
}

/** Stores a new object after admission and validation; `object` is decoded and has its defaults. */
export async function insertObject(
  server: ServerState,
  request: ApiRequest,
  object: KubeObject,
  { options, owners }: Insertion,
): Promise<KubeObject> {
  prepareMetadata(request, object);
  object.metadata.managedFields =
    owners ??
    managedFieldsOfNew(storedSchema(server, request), object, writerOf(server, request, options, object.apiVersion));
  const attributes = attributesOf(request, object, options);
  const admitted = (await server.admission.mutate(attributes)) ?? object;
  for (let attempt = 1; ; attempt += 1) {
    const candidate = hasGeneratedName(admitted) ? copyObject(admitted) : admitted;
    const stored = await tryInsert(server, { ...attributes, object: candidate });
    if (stored !== undefined) return stored;
    if (attempt === MOST_NAMES || !hasGeneratedName(admitted))
      throw alreadyExists(request.type, candidate.metadata.name);
  }
}

/** The schema of the stored version, which for Events is not that of the request. */
function storedSchema(server: ServerState, { type }: ApiRequest): ApiRequest['type']['schema'] {
  return type.toStorage === undefined
    ? type.schema
    : (server.catalog.find('', 'v1', type.plural)?.schema ?? type.schema);
}

function hasGeneratedName({ metadata }: KubeObject): boolean {
  return metadata.name === '' && (metadata.generateName ?? '') !== '';
}

/** What a client may not say about a new object. */
function prepareMetadata({ type, namespace, name }: ApiRequest, object: KubeObject): void {
  const { metadata } = object;
  if ((metadata.resourceVersion ?? '') !== '')
    throw untypedError('resourceVersion should not be set on objects to be created');
  checkNamespace(namespace, object);
  if (name !== '' && metadata.name !== name) throw nameMismatch(metadata.name, name);
  if (type.namespaced) metadata.namespace = namespace;
  if (type.behaviour.hasStatus && !type.behaviour.isCreatedWithStatus) clearStatus(type, object);
  for (const field of [
    'uid',
    'creationTimestamp',
    'deletionTimestamp',
    'deletionGracePeriodSeconds',
    'generation',
    'selfLink',
    'managedFields',
    'resourceVersion',
  ]) {
    Reflect.deleteProperty(metadata, field);
  }
}

/** 400 where the body names another namespace than the path. */
export function checkNamespace(namespace: string, { metadata }: KubeObject): void {
  if (metadata.namespace === undefined || metadata.namespace === '' || metadata.namespace === namespace) return;
  throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`);
}

/** 400 where the body names another object than the path. */
export function nameMismatch(inObject: string, inPath: string): Error {
  return badRequest(`the name of the object (${inObject}) does not match the name on the URL (${inPath})`);
}

/** A custom resource has no status until somebody writes one; built-in kinds have an empty one. */
function clearStatus(type: ApiRequest['type'], object: KubeObject): void {
  if (type.openApi !== undefined) Reflect.deleteProperty(object, 'status');
  else if (fieldsOf(object)['status'] !== undefined) fieldsOf(object)['status'] = {};
}

function attributesOf(
  request: ApiRequest,
  object: KubeObject,
  options: WriteOptions,
): Attributes & { object: KubeObject } {
  const { type, namespace, user, warnings } = request;
  return {
    operation: 'CREATE',
    type,
    subresource: '',
    kind: type,
    namespace: type.plural === 'namespaces' && type.group === '' ? object.metadata.name : namespace,
    name: object.metadata.name,
    user,
    isDryRun: options.isDryRun,
    options: options.wire,
    object,
    previous: undefined,
    warn: (text) => void warnings.push(text),
  };
}

/** Who writes, for managedFields. */
export function writerOf(server: ServerState, request: ApiRequest, options: WriteOptions, apiVersion: string): Writer {
  const { subresource } = request;
  return { manager: options.manager, operation: 'Update', apiVersion, subresource, time: timeText(server.clock.now()) };
}

/** One attempt with one name; undefined when the name is taken. */
async function tryInsert(
  server: ServerState,
  attributes: Attributes & { object: KubeObject },
): Promise<KubeObject | undefined> {
  const { type, object } = attributes;
  completeMetadata(server, attributes);
  const errors = [...validateMetadata(type, object), ...type.behaviour.validate(object)];
  if (errors.length > 0) throw invalid(type, object.metadata.name, errors);
  const charge = await server.admission.validate({ ...attributes, name: object.metadata.name });
  if (server.store.collection(type.storage).get(keyOf(object.metadata.namespace, object.metadata.name)) !== undefined)
    return undefined;
  charge();
  return attributes.isDryRun ? object : server.store.put(type.storage, object).object;
}

function completeMetadata(
  server: ServerState,
  { type, object }: { readonly type: ApiRequest['type']; readonly object: KubeObject },
): void {
  const { name, generateName: prefix = '', namespace, managedFields, labels, annotations, ...rest } = object.metadata;
  object.metadata = {
    name: name === '' && prefix !== '' ? generateName(prefix) : name,
    ...(prefix === '' ? {} : { generateName: prefix }),
    ...(namespace === undefined ? {} : { namespace }),
    uid: randomUUID(),
    ...(type.behaviour.hasGeneration ? { generation: 1 } : {}),
    creationTimestamp: timeText(server.clock.now()),
    ...(labels === undefined ? {} : { labels }),
    ...(annotations === undefined ? {} : { annotations }),
    ...rest,
    ...(managedFields === undefined ? {} : { managedFields }),
  };
  type.behaviour.prepareCreate(object);
}

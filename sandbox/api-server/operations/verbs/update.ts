import { isDeepStrictEqual } from 'node:util';
import { badRequest, conflict, invalid, MODIFIED, notFound } from '#sandbox/api-server/errors/errors.ts';
import { validateMetadata, validateMetadataUpdate } from '#sandbox/api-server/kinds/validation/validate-metadata.ts';
import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { keyOf, type Revision } from '#sandbox/api-server/storage/revision.ts';
import { copyObject, fieldsOf, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { checkNamespace, nameMismatch } from '#sandbox/api-server/operations/check-identity.ts';
import { createObject } from './create.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import { ownersAfter, type States } from '#sandbox/api-server/operations/owners-after.ts';
import { restoreFields } from '#sandbox/api-server/operations/restore-fields.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { readWriteOptions, type WriteOptions } from '#sandbox/api-server/operations/write-options.ts';

/** Makes the new state of an object from a copy of the stored one. */
export type Change = (current: KubeObject) => KubeObject;

/** An update without a resourceVersion of its own is tried again when another write came between. */
const MOST_ATTEMPTS = 5;

/** PUT of an object or of one of its subresources that replace it. Returns what is stored, and whether it is new. */
export async function replaceObject(
  server: ServerState,
  request: ApiRequest,
): Promise<{ object: KubeObject; isNew: boolean }> {
  const { type } = request;
  const options = readWriteOptions(request, 'UpdateOptions');
  const warn = (text: string): void => void request.warnings.push(text);
  const parsed = parseObjectBody(request.body, request.contentType);
  const decoded = decodeObject(parsed, { ...type, fieldValidation: options.fieldValidation, warn });
  if (decoded.metadata.name === '') throw badRequest('name must be provided');
  if (decoded.metadata.name !== request.name) throw nameMismatch(decoded.metadata.name, request.name);
  checkNamespace(request.namespace, decoded);
  if (isCreate(server, request)) return { object: await createObject(server, request), isNew: true };
  type.behaviour.setDefaults(decoded);
  const next = type.toStorage?.(decoded) ?? decoded;
  return { object: await changeObject(server, request, options, () => copyObject(next)), isNew: false };
}

function isCreate(server: ServerState, { type, namespace, name, subresource }: ApiRequest): boolean {
  if (!type.behaviour.isCreatedByPut || subresource !== '') return false;
  return server.store.collection(type.storage).get(keyOf(namespace, name)) === undefined;
}

/** The stored revision of the object a request names. Throws 404. */
export function currentRevision(server: ServerState, { type, namespace, name }: ApiRequest): Revision {
  const revision = server.store.collection(type.storage).get(keyOf(namespace, name));
  if (revision === undefined) throw notFound(type, name);
  return revision;
}

/**
 * Changes a stored object: admission, validation, managedFields, and the write itself, repeated while other writes come
 * between unless the new state names a resourceVersion. Returns the stored object.
 */
export async function changeObject(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  change: Change,
): Promise<KubeObject> {
  const collection = server.store.collection(request.type.storage);
  for (let attempt = 1; ; attempt += 1) {
    const current = currentRevision(server, request);
    const next = change(copyObject(current.object));
    const isConditional = checkPreconditions(request, current.object, next);
    const { object, charge } = await admit(server, request, options, { current: current.object, next });
    if (isDeepStrictEqual(object, current.object)) return current.object;
    const isLast = isConditional || attempt === MOST_ATTEMPTS;
    if (options.isDryRun || collection.get(current.key) === current) {
      charge();
      return options.isDryRun ? object : commitChange(server, request, object);
    }
    if (isLast) throw conflict(request.type, request.name, MODIFIED);
  }
}

/** Throws 409 where the new state belongs to another object or to an older state; tells whether it names a state. */
function checkPreconditions({ type, name }: ApiRequest, current: KubeObject, next: KubeObject): boolean {
  const { uid, resourceVersion = '' } = next.metadata;
  if (uid !== undefined && uid !== '' && uid !== current.metadata.uid) {
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.metadata.uid ?? ''}`,
    );
  }
  const isConditional = resourceVersion !== '' && resourceVersion !== '0';
  if (isConditional && resourceVersion !== current.metadata.resourceVersion) throw conflict(type, name, MODIFIED);
  return isConditional;
}

interface Admitted {
  readonly object: KubeObject;
  /** The last step of admission, to be taken in the turn of the write. */
  readonly charge: () => void;
}

async function admit(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  { current, next }: States,
): Promise<Admitted> {
  const { type } = request;
  restoreFields(request, current, next);
  next.metadata.managedFields = ownersAfter(server, request, options, { current, next });
  const particulars = { operation: 'UPDATE', isDryRun: options.isDryRun, options: options.wire } as const;
  const attributes = attributesOf(request, { ...particulars, object: next, previous: current });
  const object = (await server.admission.mutate(attributes)) ?? next;
  if (object !== next) restoreFields(request, current, object);
  setGeneration(type.behaviour.hasGeneration, current, object);
  const errors = updateErrors(request, object, current);
  if (errors.length > 0) throw invalid(type, request.name, errors);
  return { object, charge: await server.admission.validate({ ...attributes, object }) };
}

/** A resize changes resources, which an ordinary update may not; status and finalizers have no rules of their own. */
function updateErrors({ type, subresource }: ApiRequest, next: KubeObject, current: KubeObject): FieldError[] {
  const metadata = [...validateMetadata(type, next), ...validateMetadataUpdate(next, current)];
  if (subresource === 'resize') return [...metadata, ...type.behaviour.validate(next)];
  return subresource === '' ? [...metadata, ...type.behaviour.validateUpdate(next, current)] : metadata;
}

/** The generation counts changes of anything but metadata and status. */
function setGeneration(hasGeneration: boolean, current: KubeObject, next: KubeObject): void {
  if (!hasGeneration) return;
  const changed = [...new Set([...Object.keys(current), ...Object.keys(next)])].some(
    (name) =>
      name !== 'metadata' && name !== 'status' && !isDeepStrictEqual(fieldsOf(current)[name], fieldsOf(next)[name]),
  );
  if (changed) next.metadata.generation = (current.metadata.generation ?? 0) + 1;
}

/** An object that is being deleted goes with its last finalizer. */
function commitChange(server: ServerState, { type }: ApiRequest, next: KubeObject): KubeObject {
  const stored = server.store.put(type.storage, next).object;
  return isReadyToGo(stored) ? server.store.remove(type.storage, stored).object : stored;
}

function isReadyToGo({ kind, metadata, ...rest }: KubeObject): boolean {
  if (metadata.deletionTimestamp === undefined || (metadata.finalizers ?? []).length > 0) return false;
  if ((metadata.deletionGracePeriodSeconds ?? 0) > 0) return false;
  const { spec } = rest as { spec?: { finalizers?: unknown[] } };
  return kind !== 'Namespace' || (spec?.finalizers ?? []).length === 0;
}

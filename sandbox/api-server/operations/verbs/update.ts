import { isDeepStrictEqual } from 'node:util';
import { badRequest, conflict, invalid, MODIFIED, notFound } from '#sandbox/api-server/errors/errors.ts';
import { validateMetadata, validateMetadataUpdate } from '#sandbox/api-server/kinds/validation/validate-metadata.ts';
import type { FieldError } from '#sandbox/api-server/errors/field-error.ts';
import { keyOf, type Revision } from '#sandbox/api-server/storage/revision.ts';
import {
  copyObject,
  fieldsOf,
  type KubeObject,
  type ManagedFieldsEntry,
  fieldsAt,
  listAt,
  type Fields,
  type Metadata,
} from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { checkNamespace, nameMismatch } from '#sandbox/api-server/operations/check-identity.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { readWriteOptions, type WriteOptions } from '#sandbox/api-server/operations/write-options.ts';
import { managedFieldsAfterUpdate } from '#sandbox/api-server/ownership/managed-fields.ts';
import { storedSchema, writerOf } from '#sandbox/api-server/operations/writer.ts';
import { createObject } from './create.ts';

/** Builds the new state of an object from a copy of the stored one. */
export type ObjectChange = (current: KubeObject) => KubeObject;

/** How often to retry an update without a resourceVersion after a concurrent write. */
const MAX_ATTEMPTS = 5;

/** PUT of an object or of a subresource that replaces it. Returns the stored object, and whether it is new. */
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
 * Changes a stored object: admission, validation, managedFields, and the write itself, repeated after concurrent writes
 * unless the new state names a resourceVersion. Returns the stored object.
 */
export async function changeObject(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  change: ObjectChange,
): Promise<KubeObject> {
  const collection = server.store.collection(request.type.storage);
  for (let attempt = 1; ; attempt += 1) {
    const current = currentRevision(server, request);
    const next = change(copyObject(current.object));
    const isConditional = checkPreconditions(request, current.object, next);
    const { object, charge } = await admit(server, request, options, { current: current.object, next });
    if (isDeepStrictEqual(object, current.object)) return current.object;
    const isLast = isConditional || attempt === MAX_ATTEMPTS;
    if (options.isDryRun || collection.get(current.key) === current) {
      charge();
      return options.isDryRun ? object : commitChange(server, request, object);
    }
    if (isLast) throw conflict(request.type, request.name, MODIFIED);
  }
}

/** Throws 409 if the new state belongs to another object or an older state; returns whether it names a state. */
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
  /** The last step of admission, in the same event-loop turn as the write. */
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

export interface States {
  readonly current: KubeObject;
  readonly next: KubeObject;
}

/** The managedFields of a changed object: an applier provides its own, other writers own what they changed. */
function ownersAfter(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  { current, next }: States,
): ManagedFieldsEntry[] {
  const given = next.metadata.managedFields ?? [];
  if (request.contentType.startsWith('application/apply-patch')) return given;
  const writer = writerOf(server, request, options, next.apiVersion);
  return managedFieldsAfterUpdate(storedSchema(server, request), withEntries(current, given), next, writer);
}

/** A writer that sends entries sets them (kubectl migrates them so); without any the stored ones count, `[{}]` clears them. */
function withEntries(current: KubeObject, given: readonly ManagedFieldsEntry[]): KubeObject {
  if (given.length === 0) return current;
  const managedFields = given.filter((entry) => Object.keys(entry).length > 0);
  return { ...current, metadata: { ...current.metadata, managedFields } };
}

/** Fields that no update changes. */
const FIXED_METADATA = [
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'generation',
  'generateName',
  'namespace',
  'resourceVersion',
] as const;

/** Kinds whose status writers also set labels and annotations. */
const OPEN_STATUS = new Set(['pods', 'nodes']);

/** Restores what this kind of request may not change: fixed metadata, and either the status or everything else. */
function restoreFields({ type, subresource }: ApiRequest, current: KubeObject, next: KubeObject): void {
  for (const name of FIXED_METADATA) restore(next.metadata, current.metadata, name);
  if (subresource === 'status') keepAllBut('status', current, next, OPEN_STATUS.has(type.plural));
  else if (subresource === 'finalize') keepAllBut('spec', current, next, true);
  else if (subresource === 'resize') keepAllButResources(current, next);
  else if (subresource === '' && type.behaviour.hasStatus) restore(next, current, 'status');
}

function restore(target: object, source: object, name: string): void {
  const value = fieldsOf(source)[name];
  if (value === undefined) Reflect.deleteProperty(target, name);
  else fieldsOf(target)[name] = value;
}

function keepAllBut(changed: string, current: KubeObject, next: KubeObject, isMetadataOpen: boolean): void {
  for (const name of new Set([...Object.keys(current), ...Object.keys(next)])) {
    if (name !== changed && name !== 'metadata') restore(next, current, name);
  }
  if (!isMetadataOpen) next.metadata = closedMetadata(current.metadata, next.metadata);
}

function closedMetadata(current: Metadata, { managedFields }: Metadata): Metadata {
  return { ...current, ...(managedFields === undefined ? {} : { managedFields }) };
}

/** A resize changes only the resources of containers. `pkg/registry/core/pod/strategy.go` podResizeStrategy. */
function keepAllButResources(current: KubeObject, next: KubeObject): void {
  const asked = fieldsAt(next, 'spec');
  keepAllBut('', current, next, false);
  const spec = { ...fieldsAt(current, 'spec') };
  for (const list of ['containers', 'initContainers']) {
    if (spec[list] !== undefined)
      spec[list] = listAt(spec, list).map((container) => resized(container, listAt(asked, list)));
  }
  fieldsOf(next)['spec'] = spec;
}

function resized(container: Fields, asked: readonly Fields[]): Fields {
  const wanted = asked.find(({ name }) => name === container['name']);
  return wanted?.['resources'] === undefined ? container : { ...container, resources: wanted['resources'] };
}

import type { Attributes } from '#sandbox/api-server/admission.ts';
import { alreadyExists, invalid } from '#sandbox/api-server/errors/errors.ts';
import { validateMetadata } from '#sandbox/api-server/kinds/validation/validate-metadata.ts';
import { managedFieldsOfNew } from '#sandbox/api-server/ownership/managed-fields.ts';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';
import { copyObject, type KubeObject, type ManagedFieldsEntry, timeText } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { clearServerFields, giveIdentity } from '#sandbox/api-server/operations/new-object.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { readWriteOptions, type WriteOptions } from '#sandbox/api-server/operations/write-options.ts';
import { storedSchema, writerOf } from '#sandbox/api-server/operations/writer.ts';

/** How often to retry if a generated name is taken. apiserver `pkg/registry/rest/create.go`. */
const MAX_NAMES = 8;

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

/** How to store a new object. */
interface Insertion {
  readonly options: WriteOptions;
  /** The managedFields of an applied object; for others they are computed. */
  readonly owners?: ManagedFieldsEntry[] | undefined;
}

/** Stores a new object after admission and validation; `object` is decoded and has its defaults. */
export async function insertObject(
  server: ServerState,
  request: ApiRequest,
  object: KubeObject,
  { options, owners }: Insertion,
): Promise<KubeObject> {
  clearServerFields(request, object);
  const writer = writerOf(server, request, options, object.apiVersion);
  object.metadata.managedFields = owners ?? managedFieldsOfNew(storedSchema(server, request), object, writer);
  const { isDryRun, wire } = options;
  const particulars = { operation: 'CREATE', name: object.metadata.name, isDryRun, options: wire } as const;
  const attributes = attributesOf(request, { ...particulars, object, previous: undefined });
  const admitted = (await server.admission.mutate(attributes)) ?? object;
  return storeUnderFreeName(server, { ...attributes, subresource: '', object: admitted });
}

type Creation = Attributes & { readonly object: KubeObject };

async function storeUnderFreeName(server: ServerState, attributes: Creation): Promise<KubeObject> {
  const isGenerated = attributes.object.metadata.name === '' && (attributes.object.metadata.generateName ?? '') !== '';
  for (let attempt = 1; ; attempt += 1) {
    const object = isGenerated ? copyObject(attributes.object) : attributes.object;
    const stored = await tryInsert(server, { ...attributes, object });
    if (stored !== undefined) return stored;
    if (attempt === MAX_NAMES || !isGenerated) throw alreadyExists(attributes.type, object.metadata.name);
  }
}

/** One attempt with one name; undefined when the name is taken. */
async function tryInsert(server: ServerState, attributes: Creation): Promise<KubeObject | undefined> {
  const { type, object, isDryRun } = attributes;
  giveIdentity(type, object, timeText(server.clock.now()));
  const { name, namespace } = object.metadata;
  const errors = [...validateMetadata(type, object), ...type.behaviour.validate(object)];
  if (errors.length > 0) throw invalid(type, name, errors);
  const charge = await server.admission.validate({ ...attributes, name });
  if (server.store.collection(type.storage).get(keyOf(namespace, name)) !== undefined) return undefined;
  charge();
  return isDryRun ? object : server.store.put(type.storage, object).object;
}

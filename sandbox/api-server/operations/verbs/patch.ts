import { badRequest, notFound, unsupportedMediaType } from '#sandbox/api-server/errors/errors.ts';
import { applyObject } from '#sandbox/api-server/ownership/apply.ts';
import { applyJsonPatch, applyMergePatch, applyStrategicMergePatch } from '#sandbox/api-server/patch/patch.ts';
import { keyOf } from '#sandbox/api-server/storage/revision.ts';
import { copyOf, isFields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { checkNamespace, nameMismatch } from '#sandbox/api-server/operations/check-identity.ts';
import { insertObject } from './create.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { mediaTypeOf, parseJson, parseYaml, type ParsedBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { changeObject } from './update.ts';
import { readWriteOptions, type WriteOptions } from '#sandbox/api-server/operations/write-options.ts';
import { writerOf } from '#sandbox/api-server/operations/writer.ts';

const JSON_PATCH = 'application/json-patch+json';
const MERGE_PATCH = 'application/merge-patch+json';
const STRATEGIC_PATCH = 'application/strategic-merge-patch+json';
const APPLY = 'application/apply-patch+yaml';

/** The result of a PATCH. */
export interface PatchResult {
  readonly object: KubeObject;
  readonly isNew: boolean;
}

/** PATCH of an object or its status, in any of the four forms. Custom resources have no strategic merge patch. */
export async function patchObject(server: ServerState, request: ApiRequest): Promise<PatchResult> {
  const options = readWriteOptions(request, 'PatchOptions');
  const mediaType = mediaTypeOf(request.contentType);
  if (!acceptedPatches(request).includes(mediaType)) throw unsupportedMediaType(acceptedPatches(request));
  if (mediaType === APPLY) return applyPatch(server, request, options);
  const patch = parseJson(request.body);
  const patched = (current: KubeObject): unknown => patchedFields(request, mediaType, current, patch.value);
  const object = await changeObject(server, request, options, (current) =>
    typed(request, options, { value: patched(viewed(request, current)), duplicates: patch.duplicates }),
  );
  return { object, isNew: false };
}

function acceptedPatches({ type }: ApiRequest): string[] {
  const isCustom = type.definition === '';
  return isCustom ? [JSON_PATCH, MERGE_PATCH, APPLY] : [JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY];
}

function viewed({ type }: ApiRequest, current: KubeObject): KubeObject {
  return type.view.convert?.(current) ?? current;
}

function patchedFields({ type }: ApiRequest, mediaType: string, current: KubeObject, patch: unknown): unknown {
  if (mediaType === JSON_PATCH) return applyJsonPatch(current, patch);
  if (!isFields(patch))
    throw badRequest(
      'error decoding patch: json: cannot unmarshal the patch into Go value of type map[string]interface {}',
    );
  return mediaType === MERGE_PATCH
    ? applyMergePatch(current, patch)
    : applyStrategicMergePatch(type.schema, current, patch);
}

/** The patched object must be a valid object of the kind, like any other body. */
function typed(request: ApiRequest, options: WriteOptions, body: ParsedBody): KubeObject {
  const { type, warnings } = request;
  const next = decodeObject(body, {
    ...type,
    fieldValidation: options.fieldValidation,
    // A patch may be tried several times; its warnings are sent once.
    warn: (text) => {
      if (!warnings.includes(text)) warnings.push(text);
    },
  });
  if (next.metadata.name !== request.name) throw nameMismatch(next.metadata.name, request.name);
  checkNamespace(request.namespace, next);
  type.behaviour.setDefaults(next);
  return type.toStorage?.(next) ?? next;
}

/** Server-side apply: creates the object if it does not exist. */
async function applyPatch(server: ServerState, request: ApiRequest, options: WriteOptions): Promise<PatchResult> {
  if ((request.query.get('fieldManager') ?? '') === '') {
    throw badRequest(
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  }
  const wanted = decodeWanted(request, options);
  const { type, namespace, name } = request;
  const exists = server.store.collection(type.storage).get(keyOf(namespace, name)) !== undefined;
  if (!exists) return { object: await createByApply(server, request, { wanted, options }), isNew: true };
  const object = await changeObject(server, request, options, (current) =>
    applied(server, request, options, { current, wanted }),
  );
  return { object, isNew: false };
}

function decodeWanted(request: ApiRequest, options: WriteOptions): KubeObject {
  const { type, warnings } = request;
  const wanted = decodeObject(parseYaml(request.body), {
    ...type,
    fieldValidation: options.fieldValidation,
    warn: (text) => void warnings.push(text),
  });
  if (wanted.metadata.managedFields !== undefined) throw badRequest('metadata.managedFields must be nil');
  if (wanted.metadata.name !== '' && wanted.metadata.name !== request.name)
    throw nameMismatch(wanted.metadata.name, request.name);
  checkNamespace(request.namespace, wanted);
  wanted.metadata.name = request.name;
  return type.toStorage?.(wanted) ?? wanted;
}

interface ApplyIntent {
  readonly wanted: KubeObject;
  readonly options: WriteOptions;
}

async function createByApply(
  server: ServerState,
  request: ApiRequest,
  { wanted, options }: ApplyIntent,
): Promise<KubeObject> {
  const { type, subresource } = request;
  if (subresource !== '') throw notFound(type, request.name);
  const live: KubeObject = {
    kind: wanted.kind,
    apiVersion: wanted.apiVersion,
    metadata: { name: wanted.metadata.name },
  };
  const object = applyObject({
    schema: type.schema,
    live,
    wanted,
    writer: applier(server, request, options, wanted),
    force: true,
  });
  const { managedFields } = object.metadata;
  type.behaviour.setDefaults(object);
  return insertObject(server, request, object, { options, owners: managedFields });
}

function applied(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  { current, wanted }: { current: KubeObject; wanted: KubeObject },
): KubeObject {
  const force = request.query.get('force') === 'true';
  const next = copyOf(
    applyObject({
      schema: request.type.schema,
      live: current,
      wanted: copyOf(wanted),
      writer: applier(server, request, options, wanted),
      force,
    }),
  );
  request.type.behaviour.setDefaults(next);
  return next;
}

function applier(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  wanted: KubeObject,
): ReturnType<typeof writerOf> {
  return { ...writerOf(server, request, options, wanted.apiVersion), operation: 'Apply' };
}

import { badRequest, invalid, methodNotAllowed } from '#sandbox/api-server/errors/errors.ts';
import { invalidValue } from '#sandbox/api-server/errors/field-error.ts';
import { applyJsonPatch, applyMergePatch } from '#sandbox/api-server/patch/patch.ts';
import { pairs } from '#sandbox/api-server/table/object-columns.ts';
import { fieldsAt, fieldsOf, numberAt, type Fields, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { nameMismatch } from '#sandbox/api-server/operations/check-identity.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { mediaTypeOf, parseJson, parseObjectBody, type ParsedBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { changeObject, currentRevision } from './update.ts';
import { readWriteOptions } from '#sandbox/api-server/operations/write-options.ts';

/** GET, PUT and PATCH of the `scale` subresource: the number of replicas, the same way for every workload. */
export async function scaleObject(server: ServerState, request: ApiRequest): Promise<KubeObject> {
  if (request.method === 'GET') return scaleOf(currentRevision(server, request).object);
  if (request.method !== 'PUT' && request.method !== 'PATCH') throw methodNotAllowed();
  const options = readWriteOptions(request, 'UpdateOptions');
  const stored = await changeObject(server, request, options, (current) => {
    const scale = wantedScale(server, request, current);
    return withReplicas(request, current, scale);
  });
  return scaleOf(stored);
}

/** autoscaling/v1 Scale of a workload. */
function scaleOf(object: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = object.metadata;
  const scale = {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name, ...(namespace === undefined ? {} : { namespace }), uid, resourceVersion, creationTimestamp },
    spec: { replicas: numberAt(fieldsAt(object, 'spec'), 'replicas') ?? 0 },
    status: {
      replicas: numberAt(fieldsAt(object, 'status'), 'replicas') ?? 0,
      selector: selectorText(fieldsAt(object, 'spec')),
    },
  };
  return scale as unknown as KubeObject;
}

function selectorText(spec: Fields): string {
  const selector = fieldsAt(spec, 'selector');
  return pairs(fieldsAt(selector, 'matchLabels'));
}

function wantedScale(server: ServerState, request: ApiRequest, current: KubeObject): KubeObject {
  const schema = server.definitions.schema('io.k8s.api.autoscaling.v1.Scale');
  const body =
    request.method === 'PUT' ? parseObjectBody(request.body, request.contentType) : patchedScale(request, current);
  const scale = decodeObject(body, {
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    schema,
    fieldValidation: 'Warn',
    warn: (text) => void request.warnings.push(text),
  });
  if (scale.metadata.name !== request.name) throw nameMismatch(scale.metadata.name, request.name);
  return scale;
}

function patchedScale(request: ApiRequest, current: KubeObject): ParsedBody {
  const { value, duplicates } = parseJson(request.body);
  const scale = scaleOf(current);
  const isJsonPatch = mediaTypeOf(request.contentType) === 'application/json-patch+json';
  return { value: isJsonPatch ? applyJsonPatch(scale, value) : applyMergePatch(scale, value), duplicates };
}

function withReplicas({ type, name }: ApiRequest, current: KubeObject, scale: KubeObject): KubeObject {
  const replicas = numberAt(fieldsAt(scale, 'spec'), 'replicas') ?? 0;
  if (replicas < 0)
    throw invalid({ ...type, group: 'autoscaling', kind: 'Scale' }, name, [
      invalidValue('spec.replicas', replicas, 'must be greater than or equal to 0'),
    ]);
  if (scale.metadata.uid !== undefined && scale.metadata.uid !== current.metadata.uid) throw badRequest('uid mismatch');
  fieldsOf(current)['spec'] = { ...fieldsAt(current, 'spec'), replicas };
  const { resourceVersion } = scale.metadata;
  if (resourceVersion !== undefined) current.metadata.resourceVersion = resourceVersion;
  return current;
}

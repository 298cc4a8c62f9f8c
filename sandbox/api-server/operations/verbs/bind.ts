import { badRequest, conflict, invalid } from '#sandbox/api-server/errors/errors.ts';
import { required, unsupported } from '#sandbox/api-server/errors/field-error.ts';
import { managedFieldsAfterUpdate, managedFieldsOfNew } from '#sandbox/api-server/ownership/managed-fields.ts';
import {
  omit,
  copyObject,
  fieldsAt,
  fieldsOf,
  listAt,
  textAt,
  type KubeObject,
  timeText,
} from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { writerOf } from '#sandbox/api-server/operations/writer.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { currentRevision } from './update.ts';
import { readWriteOptions, type WriteOptions } from '#sandbox/api-server/operations/write-options.ts';

/** POST to pods/binding: assigns a pod to a node. `pkg/registry/core/pod/storage/storage.go` BindingREST. */
export async function bindPod(server: ServerState, request: ApiRequest): Promise<void> {
  const options = readWriteOptions(request, 'CreateOptions');
  const binding = readBinding(server, request, options);
  checkPod(request, currentRevision(server, request).object, binding);
  await admit(server, request, options, binding);
  const pod = currentRevision(server, request).object;
  checkPod(request, pod, binding);
  if (!options.isDryRun) server.store.put(request.type.storage, boundPod(server, request, options, { pod, binding }));
}

function readBinding(server: ServerState, request: ApiRequest, options: WriteOptions): KubeObject {
  const schema = server.definitions.schema('io.k8s.api.core.v1.Binding');
  const warn = (text: string): void => void request.warnings.push(text);
  const parsed = parseObjectBody(request.body, request.contentType);
  const binding = decodeObject(parsed, {
    apiVersion: 'v1',
    kind: 'Binding',
    schema,
    fieldValidation: options.fieldValidation,
    warn,
  });
  if (binding.metadata.name !== '' && binding.metadata.name !== request.name)
    throw badRequest('name in URL does not match name in Binding object');
  binding.metadata = { ...binding.metadata, name: request.name, namespace: request.namespace };
  binding.metadata.managedFields = managedFieldsOfNew(schema, binding, writerOf(server, request, options, 'v1'));
  const target = fieldsAt(binding, 'target');
  const kind = textAt(target, 'kind');
  const errors = [
    ...(kind === '' || kind === 'Node' ? [] : [unsupported('target.kind', kind, ['Node', '<empty>'])]),
    ...(textAt(target, 'name') === '' ? [required('target.name')] : []),
  ];
  if (errors.length > 0) throw invalid({ group: '', plural: 'bindings', kind: 'Binding' }, request.name, errors);
  return binding;
}

function checkPod({ type, name }: ApiRequest, pod: KubeObject, binding: KubeObject): void {
  const { uid, resourceVersion } = binding.metadata;
  const spec = fieldsAt(pod, 'spec');
  const refuse = (why: string): Error => conflict({ ...type, plural: 'pods/binding' }, name, why);
  if (uid !== undefined && uid !== pod.metadata.uid) {
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${pod.metadata.uid ?? ''}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== pod.metadata.resourceVersion) {
    throw conflict(
      type,
      name,
      `Precondition failed: ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${pod.metadata.resourceVersion ?? ''}`,
    );
  }
  if (pod.metadata.deletionTimestamp !== undefined)
    throw refuse(`pod ${name} is being deleted, cannot be assigned to a host`);
  const nodeName = textAt(spec, 'nodeName');
  if (nodeName !== '') throw refuse(`pod ${name} is already assigned to node ${JSON.stringify(nodeName)}`);
  if (listAt(spec, 'schedulingGates').length > 0) throw refuse(`pod ${name} has non-empty .spec.schedulingGates`);
}

async function admit(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  binding: KubeObject,
): Promise<void> {
  const kind = { group: '', version: 'v1', kind: 'Binding' };
  const { isDryRun, wire } = options;
  const particulars = { operation: 'CREATE', kind, isDryRun, options: wire } as const;
  const attributes = attributesOf(request, { ...particulars, object: binding, previous: undefined });
  await server.admission.mutate(attributes);
  const charge = await server.admission.validate(attributes);
  charge();
}

interface Bound {
  readonly pod: KubeObject;
  readonly binding: KubeObject;
}

function boundPod(
  server: ServerState,
  request: ApiRequest,
  options: WriteOptions,
  { pod, binding }: Bound,
): KubeObject {
  const next = copyObject(pod);
  const nodeName = textAt(fieldsAt(binding, 'target'), 'name');
  fieldsOf(next)['spec'] = { ...fieldsAt(next, 'spec'), nodeName };
  next.metadata.annotations = { ...next.metadata.annotations, ...binding.metadata.annotations };
  if (Object.keys(next.metadata.annotations).length === 0) Reflect.deleteProperty(next.metadata, 'annotations');
  fieldsOf(next)['status'] = boundStatus(next, timeText(server.clock.now()));
  next.metadata.managedFields = managedFieldsAfterUpdate(
    request.type.schema,
    pod,
    next,
    writerOf(server, request, options, 'v1'),
  );
  return next;
}

/** A bound pod is scheduled, and its nomination has served its purpose. */
function boundStatus(pod: KubeObject, time: string): object {
  const others = listAt(fieldsAt(pod, 'status'), 'conditions').filter(
    (condition) => condition['type'] !== 'PodScheduled',
  );
  return {
    ...omit(fieldsAt(pod, 'status'), 'nominatedNodeName'),
    conditions: [...others, { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: time }],
  };
}

import { badRequest, invalid, untypedError } from '#sandbox/api-server/errors/errors.ts';
import { invalidValue } from '#sandbox/api-server/errors/field-error.ts';
import { copyObject, fieldsAt, fieldsOf, listAt, textAt, type KubeObject } from '#sandbox/api-server/wire/object.ts';
import { timeText } from '#sandbox/api-server/wire/time.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { chargeBudget, isCovered, matchingBudgets } from '#sandbox/api-server/operations/budget.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { checkPreconditions, deleteObject } from './delete.ts';
import { deleteOptionsOf, type DeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { currentRevision } from './update.ts';
import { readWriteOptions } from '#sandbox/api-server/operations/write-options.ts';

/** POST to pods/eviction: deletes the pod if its disruption budget allows it. `pkg/registry/core/pod/storage/eviction.go`. */
export async function evictPod(server: ServerState, request: ApiRequest): Promise<void> {
  const { eviction, options } = readEviction(server, request);
  currentRevision(server, request);
  await admit(server, request, { eviction, options });
  const pod = currentRevision(server, request).object;
  checkPreconditions(pod, options);
  if (!mayGoFreely(pod)) askBudget(server, options, pod);
  if (!options.isDryRun) markTarget(server, request, pod);
  // The mark is a change of the pod, so the preconditions that held before it are not asked again.
  await deleteObject(server, request, {
    options: { ...options, preconditions: {} },
    isOfCollection: false,
    skipsAdmission: true,
  });
}

interface Eviction {
  readonly eviction: KubeObject;
  readonly options: DeleteOptions;
}

function readEviction(server: ServerState, request: ApiRequest): Eviction {
  const write = readWriteOptions(request, 'CreateOptions');
  const parsed = parseObjectBody(request.body, request.contentType);
  const eviction = decodeEviction(server, request, parsed, write.fieldValidation);
  if (eviction.metadata.name !== '' && eviction.metadata.name !== request.name)
    throw badRequest('name in URL does not match name in Eviction object');
  const fields = fieldsAt(eviction, 'deleteOptions');
  const inBody = fields['dryRun'];
  if (write.isDryRun && Array.isArray(inBody) && inBody.length > 0 && inBody[0] !== 'All')
    throw untypedError("Non-nil DryRun doesn't match");
  const options = deleteOptionsOf(fields, request.query.getAll('dryRun'));
  const unsafe =
    fields['ignoreStoreReadErrorWithClusterBreakingPotential'] === true
      ? [invalidValue('ignoreStoreReadErrorWithClusterBreakingPotential', true, 'must not be set')]
      : [];
  const errors = [...options.errors, ...unsafe];
  if (errors.length > 0) throw invalid({ group: 'meta.k8s.io', plural: '', kind: 'DeleteOptions' }, '', errors);
  eviction.metadata = { ...eviction.metadata, name: request.name, namespace: request.namespace };
  return { eviction, options };
}

const VERSIONS = ['policy/v1', 'policy/v1beta1'];

function decodeEviction(
  server: ServerState,
  request: ApiRequest,
  parsed: ReturnType<typeof parseObjectBody>,
  fieldValidation: 'Ignore' | 'Warn' | 'Strict',
): KubeObject {
  const given = textAt(parsed.value ?? {}, 'apiVersion');
  const apiVersion = VERSIONS.includes(given) ? given : 'policy/v1';
  const eviction = decodeObject(parsed, {
    apiVersion,
    kind: 'Eviction',
    schema: server.definitions.schema('io.k8s.api.policy.v1.Eviction'),
    fieldValidation,
    warn: (text) => void request.warnings.push(text),
  });
  eviction.apiVersion = 'policy/v1';
  return eviction;
}

async function admit(server: ServerState, request: ApiRequest, { eviction, options }: Eviction): Promise<void> {
  const { isDryRun } = options;
  const attributes = attributesOf(request, {
    operation: 'CREATE',
    kind: { group: 'policy', version: 'v1', kind: 'Eviction' },
    isDryRun,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1', ...(isDryRun ? { dryRun: ['All'] } : {}) },
    object: eviction,
    previous: undefined,
  });
  const object = await server.admission.mutate(attributes);
  const charge = await server.admission.validate({ ...attributes, object });
  charge();
}

/** Pods that have not begun, have ended or are ending need no budget. */
function mayGoFreely(pod: KubeObject): boolean {
  const phase = textAt(fieldsAt(pod, 'status'), 'phase');
  return ['Succeeded', 'Failed', 'Pending'].includes(phase) || pod.metadata.deletionTimestamp !== undefined;
}

function askBudget(server: ServerState, options: DeleteOptions, pod: KubeObject): void {
  const [budget, second] = matchingBudgets(server, pod);
  if (second !== undefined)
    throw untypedError(
      'This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.',
    );
  if (budget === undefined || isCovered(budget, isReady(pod))) return;
  chargeBudget(server, { budget, pod, isDryRun: options.isDryRun });
}

function isReady(pod: KubeObject): boolean {
  return listAt(fieldsAt(pod, 'status'), 'conditions').some(
    (condition) => condition['type'] === 'Ready' && condition['status'] === 'True',
  );
}

const TARGET = {
  type: 'DisruptionTarget',
  status: 'True',
  reason: 'EvictionByEvictionAPI',
  message: 'Eviction API: evicting',
};

function markTarget(server: ServerState, { type }: ApiRequest, pod: KubeObject): void {
  const next = copyObject(pod);
  const status = { ...fieldsAt(next, 'status') };
  const others = listAt(status, 'conditions').filter((condition) => condition['type'] !== TARGET.type);
  status['conditions'] = [...others, { ...TARGET, lastTransitionTime: timeText(server.clock.now()) }];
  fieldsOf(next)['status'] = status;
  server.store.put(type.storage, next);
}

import { badRequest, invalid, untypedError, forbidden, tooManyRequests } from '#sandbox/api-server/errors/errors.ts';
import { invalidValue } from '#sandbox/api-server/errors/field-error.ts';
import {
  copyObject,
  fieldsAt,
  fieldsOf,
  listAt,
  textAt,
  type KubeObject,
  timeText,
  numberAt,
  type Fields,
} from '#sandbox/api-server/wire/object.ts';
import type { ApiRequest } from '#sandbox/api-server/operations/api-request.ts';
import { attributesOf } from '#sandbox/api-server/operations/attributes.ts';
import { decodeObject } from '#sandbox/api-server/operations/decode-object.ts';
import { deleteOptionsOf, type DeleteOptions } from '#sandbox/api-server/operations/delete-options.ts';
import { parseObjectBody } from '#sandbox/api-server/operations/parse-body.ts';
import type { ServerState } from '#sandbox/api-server/operations/server-state.ts';
import { readWriteOptions } from '#sandbox/api-server/operations/write-options.ts';
import { matchesSelector } from '#sandbox/api-server/selectors/label-query.ts';
import { BUDGETS } from '#sandbox/api-server/storage-names.ts';
import { checkPreconditions, deleteObject } from './delete.ts';
import { currentRevision } from './update.ts';

/** POST to pods/eviction: deletes the pod if its disruption budget allows it. `pkg/registry/core/pod/storage/eviction.go`. */
export async function evictPod(server: ServerState, request: ApiRequest): Promise<void> {
  const { eviction, options } = readEviction(server, request);
  currentRevision(server, request);
  await admit(server, request, { eviction, options });
  const pod = currentRevision(server, request).object;
  checkPreconditions(pod, options);
  if (!mayGoFreely(pod)) askBudget(server, options, pod);
  if (!options.isDryRun) markTarget(server, request, pod);
  // Marking changes the pod, so the preconditions are not checked again.
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

/** Pods that have not started, have ended or are terminating need no budget. */
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

const SUBJECT = { group: 'policy', plural: 'poddisruptionbudget', kind: 'PodDisruptionBudget' };
const MAX_DISRUPTED = 2_000;
const RETRY_SECONDS = 10;
const REFUSAL = "Cannot evict pod as it would violate the pod's disruption budget.";

/** The budgets of the pod's namespace whose selector finds it; an empty selector finds every pod. */
function matchingBudgets(server: ServerState, pod: KubeObject): KubeObject[] {
  const budgets = server.store
    .collection(BUDGETS)
    .values()
    .map(({ object }) => object);
  return budgets.filter(
    (budget) =>
      budget.metadata.namespace === pod.metadata.namespace &&
      matchesSelector(fieldsAt(budget, 'spec')['selector'], pod.metadata.labels),
  );
}

/** Whether a pod that is not ready may be evicted without using the budget. */
function isCovered(budget: KubeObject, isPodReady: boolean): boolean {
  if (isPodReady) return false;
  if (textAt(fieldsAt(budget, 'spec'), 'unhealthyPodEvictionPolicy') === 'AlwaysAllow') return true;
  const { currentHealthy, desiredHealthy } = counts(budget);
  return currentHealthy >= desiredHealthy && desiredHealthy > 0;
}

interface Counts {
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  readonly disruptionsAllowed: number;
}

function counts(budget: KubeObject): Counts {
  const status = fieldsAt(budget, 'status');
  return {
    currentHealthy: numberAt(status, 'currentHealthy') ?? 0,
    desiredHealthy: numberAt(status, 'desiredHealthy') ?? 0,
    disruptionsAllowed: numberAt(status, 'disruptionsAllowed') ?? 0,
  };
}

interface BudgetCharge {
  readonly budget: KubeObject;
  readonly pod: KubeObject;
  readonly isDryRun: boolean;
}

/** Uses one disruption of the budget and lists the pod there. Throws 429 or 403 if the budget does not allow it. */
function chargeBudget(server: ServerState, { budget, pod, isDryRun }: BudgetCharge): void {
  const { name, generation = 0 } = budget.metadata;
  const status = fieldsAt(budget, 'status');
  if ((numberAt(status, 'observedGeneration') ?? 0) < generation) {
    throw refusal(`The disruption budget ${name} is still being processed by the server.`, RETRY_SECONDS);
  }
  const { disruptionsAllowed } = counts(budget);
  if (disruptionsAllowed < 0) throw forbidden(SUBJECT, name, 'pdb disruptions allowed is negative');
  if (Object.keys(fieldsAt(status, 'disruptedPods')).length > MAX_DISRUPTED) {
    throw forbidden(SUBJECT, name, 'DisruptedPods map too big - too many evictions not confirmed by PDB controller');
  }
  if (disruptionsAllowed === 0) throw refusal(refusalText(budget), 0);
  if (!isDryRun) store(server, budget, pod);
}

function store(server: ServerState, budget: KubeObject, pod: KubeObject): void {
  const next = copyObject(budget);
  const status = fieldsAt(next, 'status');
  const disruptedPods = { ...fieldsAt(status, 'disruptedPods'), [pod.metadata.name]: timeText(server.clock.now()) };
  fieldsOf(next)['status'] = { ...status, disruptionsAllowed: counts(budget).disruptionsAllowed - 1, disruptedPods };
  server.store.put(BUDGETS, next);
}

function refusal(message: string, retryAfterSeconds: number): Error {
  return tooManyRequests(REFUSAL, retryAfterSeconds, [{ reason: 'DisruptionBudget', message }]);
}

function refusalText(budget: KubeObject): string {
  const { name } = budget.metadata;
  const { desiredHealthy, currentHealthy } = counts(budget);
  const condition = explanation(listAt(fieldsAt(budget, 'status'), 'conditions'));
  const because = condition === undefined ? '' : textAt(condition, 'message');
  if (condition?.['reason'] === 'SyncFailed') {
    return `The disruption budget ${name} does not allow evicting pods currently because it failed sync: ${because}`;
  }
  if (currentHealthy <= desiredHealthy) {
    return `The disruption budget ${name} needs ${desiredHealthy} healthy pods and has ${currentHealthy} currently`;
  }
  if (condition !== undefined) {
    return `The disruption budget ${name} does not allow evicting pods currently (${textAt(condition, 'reason')}): ${because}`;
  }
  return `The disruption budget ${name} does not allow evicting pods currently`;
}

function explanation(conditions: readonly Fields[]): Fields | undefined {
  return conditions.find(
    (condition) =>
      condition['type'] === 'DisruptionAllowed' &&
      condition['status'] === 'False' &&
      textAt(condition, 'message') !== '',
  );
}

import { isDeepStrictEqual } from 'node:util';
import type { ClusterState, PodSearch } from '#shared/domain/admission/cluster-state.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import {
  decideTemplate,
  decideValidation,
  decideGroupTemplate,
  decidePodGroup,
} from '#shared/domain/admission/decide-validation.ts';
import { type AdmissionDecision, allowFor } from '#shared/domain/admission/decision.ts';
import { affinitySearches } from '#shared/domain/admission/warnings.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import {
  refuseUnknownNamespace,
  standsUnconfirmed,
  malformed,
  unexpectedResource,
} from '#shared/domain/admission/refusals.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { PendingReviews } from '#webhook/request-body/fair-queue.ts';
import { MAX_LOOK_UP_MS, type PodLookUp } from '#webhook/cluster-state/pod-look-up.ts';
import { ERRORS } from '#webhook/messages.ts';
import { withinTime, type AdmissionHandler } from '#webhook/server/review-listener.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { decodePodRequest, decodeTemplate, rawTemplate } from '#shared/kube/decode/decode-pod-request.ts';
import { type Decoded, fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';

export interface PodSources {
  readonly cluster: StateReader;
  /** Seconds since the API server last sent anything about the objects that decisions use. */
  readonly cacheAgeSeconds: () => number | undefined;
  /**
   * The cluster state for one pod, with everything that may be out of date read from the API server; used before a
   * refusal is returned.
   */
  readonly liveState: (request: PodRequest) => Promise<ClusterState>;
  readonly lookUpPods: PodLookUp;
  readonly pending: PendingReviews;
  readonly clock: Clock;
}

/** How one phase of admission decides about pods. */
export interface AdmissionPhase {
  readonly decide: (request: PodRequest, cluster: ClusterState) => AdmissionDecision;
  /** Whether pods are looked up to make a warning or a refusal more helpful. */
  readonly explains: boolean;
}

/** Sets the priority fields; the validating phase decides whether the pod may exist. */
export const MUTATION: AdmissionPhase = { decide: decideMutation, explains: false };
export const VALIDATION: AdmissionPhase = { decide: decideValidation, explains: true };
const TEMPLATE: AdmissionPhase = { decide: decideTemplate, explains: true };

/** Handles the creation of pods; a refusal based on cached objects is checked on live ones. */
export function podHandler(sources: PodSources, phase: AdmissionPhase): AdmissionHandler {
  return (review) => {
    const unexpected = notACreatedPod(review);
    if (unexpected !== undefined) return unexpected;
    const { requester, namespace } = review.request;
    const decoded = decodePodRequest(review.object, requester, namespace);
    if (!decoded.ok) return malformed('object', decoded);
    return decideThenConfirm({ review, request: decoded.value, phase }, sources);
  };
}

/**
 * Refuses anything but the creation of a pod: a webhook rule that sends it is misconfigured, which must not go
 * unnoticed.
 */
function notACreatedPod({ request }: Review): AdmissionDecision | undefined {
  const { group, resource, subresource, operation } = request;
  if (group !== '' || resource !== 'pods' || subresource !== '') return unexpectedResource(request, 'pods');
  return operation === 'CREATE' ? undefined : allowFor(MESSAGES.changesNoPriority, { operation });
}

const RESOURCES: readonly string[] = [
  'deployments',
  'statefulsets',
  'daemonsets',
  'replicasets',
  'replicationcontrollers',
  'jobs',
  'cronjobs',
];

/**
 * Handles workloads by the pods they would create; an update that leaves the template unchanged (scaling) is allowed.
 */
export function templateHandler(sources: PodSources): AdmissionHandler {
  const handleGroup = groupHandler(sources);
  return (review) => {
    const { request, object, oldObject } = review;
    if (isGroup(request)) return handleGroup(review);
    if (!RESOURCES.includes(request.resource)) return unexpectedResource(request, 'a workload');
    if (request.operation === 'UPDATE' && isDeepStrictEqual(rawTemplate(object), rawTemplate(oldObject))) {
      return allowFor(MESSAGES.templateUnchanged, {});
    }
    const template = decodeTemplate(object, request.requester, request.namespace);
    if (template === undefined) return allowFor(MESSAGES.noTemplate, {});
    if (!template.ok) return malformed('object', template);
    return decideThenConfirm({ review, request: template.value, phase: TEMPLATE }, sources);
  };
}

/** By resource of `scheduling.k8s.io`; none can be changed later. */
const PHASES: Readonly<Record<string, AdmissionPhase>> = {
  podgroups: { decide: decidePodGroup, explains: false },
  compositepodgroups: { decide: decidePodGroup, explains: false },
  workloads: { decide: decideGroupTemplate, explains: false },
};

/** Whether a resource is a group of pods that the scheduler places together, or holds templates of such groups. */
function isGroup({ group, resource }: Review['request']): boolean {
  return group === 'scheduling.k8s.io' && Object.hasOwn(PHASES, resource);
}

/** Handles groups by each class that they name; the first refusal decides. */
function groupHandler(sources: PodSources): AdmissionHandler {
  return async (review) => {
    const phase = PHASES[review.request.resource];
    let decision: AdmissionDecision = allowFor(MESSAGES.noTemplate, {});
    for (const name of classNames(review.object)) {
      const group = groupOf(name, review.request);
      if (phase === undefined || decision.kind === 'refused') break;
      if (!group.ok) return malformed('object', group);
      decision = await decideThenConfirm({ review, request: group.value, phase }, sources);
    }
    return decision;
  };
}

/** The class of a group, or those of the templates of a Workload, each once. */
function classNames(object: unknown): ReadonlySet<unknown> {
  const names = holdersIn(fieldOf(object, 'spec')).map((holder) => fieldOf(holder, 'priorityClassName') ?? '');
  return new Set(names.filter((name) => name !== ''));
}

/** Kubernetes takes no deeper tree of groups. */
const MAX_TREE_DEPTH = 4;

/** Templates of groups stand in those of groups of groups. */
function holdersIn(holder: unknown, depth = MAX_TREE_DEPTH): readonly unknown[] {
  if (depth < 0) return [];
  const templates = ['podGroupTemplates', 'compositePodGroupTemplates'].flatMap((field) =>
    itemsOf(fieldOf(holder, field)),
  );
  return [holder, ...templates.flatMap((each) => holdersIn(each, depth - 1))];
}

/** As a pod of the class without a service account. */
function groupOf(priorityClassName: unknown, { requester, namespace }: Review['request']): Decoded<PodRequest> {
  const pod = { metadata: { namespace }, spec: { priorityClassName, containers: [] } };
  const decoded = decodePodRequest(pod, requester, namespace);
  return decoded.ok ? { ok: true, value: { ...decoded.value, serviceAccountName: '' } } : decoded;
}

/** A pod to decide about. */
interface Case {
  readonly review: Pick<Review, 'request' | 'answerBy' | 'heldBytes'>;
  readonly request: PodRequest;
  readonly phase: AdmissionPhase;
}

/** Time reserved for deciding and answering once all data is read. */
const ANSWER_MS = 50;

/**
 * Decides from the caches when they suffice, which is nearly always. A refusal, and any decision in a namespace that
 * the caches do not know, is made again on live objects, because a cache may lag. Nothing is admitted because a read
 * failed: the refusal stands, and a pod in an unknown namespace must wait. Finally, pods are looked up that make a
 * warning or a refusal more helpful.
 */
export function decideThenConfirm(asked: Case, sources: PodSources): AdmissionDecision | Promise<AdmissionDecision> {
  const { request, phase, review } = asked;
  const cluster = sources.cluster();
  const decision = phase.decide(request, cluster);
  const isKnown = cluster.namespaceLabels(request.pod.namespace) !== undefined;
  const isFirm = decision.kind === 'allowed' && isKnown;
  if (isFirm && searchesFor(asked, decision, cluster, sources).length === 0) return decision;
  const share = sources.pending.begin(review);
  if (share === undefined) return isFirm ? decision : unconfirmed(asked, decision, ERRORS.tooManyWaiting(), sources);
  const pending = isFirm ? explain(asked, decision, cluster, sources) : confirm(asked, decision, sources);
  return pending.finally(() => share.end());
}

async function confirm(asked: Case, cached: AdmissionDecision, sources: PodSources): Promise<AdmissionDecision> {
  const { request, phase, review } = asked;
  const leftMs = review.answerBy - sources.clock.monotonic() - ANSWER_MS;
  const live = await withinTime(sources.liveState(request), leftMs).catch(errorText);
  if (typeof live === 'string') return unconfirmed(asked, cached, live, sources);
  return explain(asked, phase.decide(request, live), live, sources);
}

function unconfirmed(
  { request }: Case,
  cached: AdmissionDecision,
  cause: string,
  { cacheAgeSeconds }: PodSources,
): AdmissionDecision {
  const why = { cause, ageSeconds: cacheAgeSeconds() };
  return cached.kind === 'refused'
    ? standsUnconfirmed(cached, why)
    : refuseUnknownNamespace(request.pod.namespace, why);
}

/** Decides again with the pods that were looked up. */
async function explain(
  asked: Case,
  decision: AdmissionDecision,
  cluster: ClusterState,
  sources: PodSources,
): Promise<AdmissionDecision> {
  const searches = searchesFor(asked, decision, cluster, sources);
  if (searches.length === 0) return decision;
  return asked.phase.decide(asked.request, { ...cluster, knownPods: await sources.lookUpPods(searches) });
}

/** Empty if the phase explains nothing, or if there is no time for searches. */
function searchesFor(
  { request, phase, review }: Case,
  decision: AdmissionDecision,
  cluster: ClusterState,
  { clock }: PodSources,
): readonly PodSearch[] {
  if (!phase.explains) return [];
  const isInTime = review.answerBy - clock.monotonic() > MAX_LOOK_UP_MS + ANSWER_MS;
  return isInTime ? usefulSearches(decision, request, cluster) : [];
}

/** The pods to look up: the largest holders of a full quota, or the pods that the new pod must be co-located with. */
function usefulSearches(decision: AdmissionDecision, request: PodRequest, cluster: ClusterState): readonly PodSearch[] {
  if (decision.kind === 'allowed') return affinitySearches(request, cluster);
  const { namespace } = request.pod;
  return decision.because.code === 'QuotaExceeded' ? [{ namespace, selector: undefined }] : [];
}

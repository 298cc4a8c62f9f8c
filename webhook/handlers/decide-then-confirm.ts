import type { ClusterState, PodSearch } from '#shared/domain/admission/cluster-state.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideTemplate, decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { affinitySearches } from '#shared/domain/admission/warnings.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import { refuseUnknownNamespace, standsUnconfirmed } from '#shared/domain/admission/refusals.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { PendingReviews } from '#webhook/server/pending-reviews.ts';
import { MAX_LOOK_UP_MS, type PodLookUp } from '#webhook/cluster-state/pod-look-up.ts';
import { ERRORS } from '#webhook/messages.ts';
import { withinTime } from '#webhook/server/review-answerer.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';

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
export const TEMPLATE: AdmissionPhase = { decide: decideTemplate, explains: true };

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

/** Empty when there is no time for searches. */
function searchesFor(
  { request, phase, review }: Case,
  decision: AdmissionDecision,
  cluster: ClusterState,
  { clock }: PodSources,
): readonly PodSearch[] {
  const isInTime = review.answerBy - clock.monotonic() > MAX_LOOK_UP_MS + ANSWER_MS;
  return phase.explains && isInTime ? usefulSearches(decision, request, cluster) : [];
}

/** The pods to look up: the largest holders of a full quota, or the pods that the new pod must be co-located with. */
function usefulSearches(decision: AdmissionDecision, request: PodRequest, cluster: ClusterState): readonly PodSearch[] {
  if (decision.kind === 'allowed') return affinitySearches(request, cluster);
  const { namespace } = request.pod;
  return decision.because.code === 'QuotaExceeded' ? [{ namespace, selector: undefined }] : [];
}

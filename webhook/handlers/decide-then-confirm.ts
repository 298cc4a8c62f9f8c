import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import { decideTemplate } from '#shared/domain/admission/decide-template.ts';
import { decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { PodSearch } from '#shared/domain/admission/known-pods.ts';
import { affinitySearches } from '#shared/domain/admission/warnings/affinity-searches.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { refuseUnknownNamespace, standsUnconfirmed } from '#shared/domain/admission/refusals/unconfirmed.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Review } from '#webhook/server/decode-review.ts';
import type { PendingReviews } from '#webhook/server/pending-reviews.ts';
import { LONGEST_LOOK_UP_MS, type PodLookUp } from '#webhook/cluster-state/pod-look-up.ts';
import { withinTime } from '#webhook/server/within-time.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';

export interface PodSources {
  readonly cluster: StateReader;
  /** How long ago the API server was last heard about what decisions follow from. */
  readonly cacheAgeSeconds: () => number | undefined;
  /** The cluster for one pod with what may be out of date read from the API server: asked before a refusal is given. */
  readonly liveState: (request: PodRequest) => Promise<ClusterState>;
  readonly lookUpPods: PodLookUp;
  readonly pending: PendingReviews;
  readonly clock: Clock;
}

/** How pods are decided about in one phase of admission. */
export interface Phase {
  readonly decide: (request: PodRequest, cluster: ClusterState) => AdmissionDecision;
  /** Whether pods are looked up that make a warning or a refusal more helpful. */
  readonly explains: boolean;
}

/** What pods become; whether they may exist is decided in the validating phase. */
export const MUTATION: Phase = { decide: decideMutation, explains: false };
export const VALIDATION: Phase = { decide: decideValidation, explains: true };
export const TEMPLATE: Phase = { decide: decideTemplate, explains: true };

/** A pod that is decided about. */
interface Case {
  readonly review: Pick<Review, 'request' | 'answerBy' | 'heldBytes'>;
  readonly request: PodRequest;
  readonly phase: Phase;
}

/** What it takes to decide and answer once everything is known. */
const ANSWER_MS = 50;

/**
 * Decides from the caches where they suffice, which is nearly always. A refusal, and anything in a namespace that they
 * do not know, is decided again on live objects, because a cache may be a moment behind. What cannot be read in time
 * lets nothing in: the refusal stands, and an unknown namespace has to wait. Then pods are looked up that make a
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
  if (share === undefined) return isFirm ? decision : unconfirmed(asked, decision, TOO_MANY, sources);
  const pending = isFirm ? explain(asked, decision, cluster, sources) : confirm(asked, decision, sources);
  return pending.finally(() => share.end());
}

const TOO_MANY = 'too many requests are waiting for the API server';

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

/** Decides once more with the pods that can be looked up. */
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

/** None where there is no time for them. */
function searchesFor(
  { request, phase, review }: Case,
  decision: AdmissionDecision,
  cluster: ClusterState,
  { clock }: PodSources,
): readonly PodSearch[] {
  const isInTime = review.answerBy - clock.monotonic() > LONGEST_LOOK_UP_MS + ANSWER_MS;
  return phase.explains && isInTime ? usefulSearches(decision, request, cluster) : [];
}

/** Which pods would say more: those that hold the quota that is full, those that the pod must run beside. */
function usefulSearches(decision: AdmissionDecision, request: PodRequest, cluster: ClusterState): readonly PodSearch[] {
  if (decision.kind === 'allowed') return affinitySearches(request, cluster);
  const { namespace } = request.pod;
  return decision.because.code === 'QuotaExceeded' ? [{ namespace, selector: undefined }] : [];
}

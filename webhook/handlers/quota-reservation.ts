import { randomUUID } from 'node:crypto';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { ChargeRequest } from '#shared/domain/admission/decide-validation.ts';
import { malformed, malformedField, unexpectedResource } from '#shared/domain/admission/refusals.ts';
import { NO_AMOUNTS, type Amounts } from '#shared/domain/quantity/quantity.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import { resizeReservationUid, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import type { Review } from '#webhook/server/admission-review.ts';

/** The reservation that a review needs; its pod is in the request's namespace. */
export interface QuotaReview extends ChargeRequest {
  /** What the pod costs after the request, and before it. */
  readonly cost: { readonly after: Amounts; readonly before: Amounts };
  /** Without amounts, because they depend on the quota. */
  readonly reservation: Omit<Reservation, 'amounts'>;
}

/** Long enough to distinguish the few requests for the same pod. */
const CLAIM_LENGTH = 8;
/** In the format that the API server generates (RFC 9562). */
const UID = /^[\w-]{1,36}$/;
const MAX_NAMESPACE_LENGTH = 63;

/**
 * Reads the review of a new pod or of a resize, or returns a refusal. The resulting reservation always fits into a
 * ledger: longer UIDs and names than the API server generates are refused.
 */
export function readQuotaReview(review: Review, now: Instant): QuotaReview | AdmissionDecision {
  const pods = readPods(review);
  if ('kind' in pods) return pods;
  const { request, before } = pods;
  const cost = {
    after: chargeToPriorityQuota(request.pod),
    before: before === undefined ? NO_AMOUNTS : chargeToPriorityQuota(before),
  };
  return unstorable(review, request.pod) ?? { ...pods, cost, reservation: reservationFor(review, pods, now) };
}

function readPods({ request, object, oldObject }: Review): ChargeRequest | AdmissionDecision {
  const { resource, subresource, operation, namespace, requester } = request;
  const what = resource === 'pods' ? `${operation} ${subresource}` : '';
  if (what !== 'CREATE ' && what !== 'UPDATE resize') return unexpectedResource(request, 'pods or pods/resize');
  const decoded = decodePodRequest(object, requester, namespace);
  if (!decoded.ok) return malformed('object', decoded);
  const { value } = decoded;
  const asked = { ...value, pod: { ...value.pod, namespace } };
  if (operation === 'CREATE') return { request: asked, before: undefined };
  const before = decodePod(oldObject);
  return before.ok ? { request: asked, before: before.value } : malformed('oldObject', before);
}

/** Names are checked earlier, for every entry (handlers.ts). */
function unstorable({ request }: Review, pod: Pod): AdmissionDecision | undefined {
  if (!UID.test(pod.uid)) return unlike('object.metadata.uid', 'a UID of at most 36 characters');
  if (!UID.test(request.uid)) return unlike('request.uid', 'a UID of at most 36 characters');
  const isTooLong = request.namespace.length > MAX_NAMESPACE_LENGTH;
  return isTooLong ? unlike('request.namespace', `at most ${MAX_NAMESPACE_LENGTH} characters`) : undefined;
}

function unlike(field: string, expected: string): AdmissionDecision {
  return malformedField(field, `expected ${expected}`);
}

/**
 * The reservation of a new pod is keyed by the pod's UID, which is final here; the one of a resize also by the request,
 * because it adds to what the pod already costs.
 */
function reservationFor(
  { request, object, oldObject }: Review,
  { request: { pod }, before }: ChargeRequest,
  now: Instant,
): QuotaReview['reservation'] {
  const shared = {
    namespace: pod.namespace,
    pod: pod.name === '' ? request.name : pod.name,
    admittedAt: now,
    claim: randomUUID().slice(0, CLAIM_LENGTH),
  };
  if (before === undefined) return { ...shared, uid: pod.uid };
  const generation = generationAfter(oldObject, object);
  const uid = resizeReservationUid(pod.uid, request.uid);
  return { ...shared, uid, ...(generation !== undefined && { generation }) };
}

/** An API server that sets metadata.generation of pods (1.33 and later) has done so before it calls us. */
function generationAfter(before: unknown, after: unknown): number | undefined {
  const [old, next] = [before, after].map((raw) => fieldOf(fieldOf(raw, 'metadata'), 'generation'));
  return Number.isSafeInteger(next) && Number(next) > Number(old) ? Number(next) : undefined;
}

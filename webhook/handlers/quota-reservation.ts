import { randomUUID } from 'node:crypto';
import { because } from '#shared/domain/admission/admission-code.ts';
import { refuse, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { ChargeRequest } from '#shared/domain/admission/refusal-before-charge.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals/invalid-request.ts';
import { filterAmounts, NO_AMOUNTS, subtractAmounts, type Amounts } from '#shared/domain/model/amounts.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { quantitySign } from '#shared/domain/model/quantity.ts';
import { chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import { resizeReservationUid, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { decodePodRequest } from '#shared/kube/decode-pod-request.ts';
import { decodePod } from '#shared/kube/decode-pod.ts';
import { fieldOf } from '#shared/kube/field-of.ts';
import type { Review } from '#webhook/server/decode-review.ts';

/** What a review asks a PriorityQuota for; its pod is in the request's namespace. */
export interface QuotaReview extends ChargeRequest {
  readonly reservation: Reservation;
}

/** Enough to tell apart the few requests that ever ask for the same pod. */
const CLAIM_LENGTH = 8;
/** As the API server makes them (RFC 9562). */
const UID = /^[\w-]{1,36}$/;
const LONGEST_NAMESPACE = 63;

/**
 * Reads the review of a new pod or of a resize, or says what is wrong with it. Whatever comes of it can be stored beside
 * the reservations of others: the API server's UIDs and names are no longer than a ledger takes.
 */
export function readQuotaReview(review: Review, now: Instant): QuotaReview | AdmissionDecision {
  const pods = readPods(review);
  if ('kind' in pods) return pods;
  return unstorable(review, pods.request.pod) ?? { ...pods, reservation: reservationFor(review, pods, now) };
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

/** Names are checked before (valid-names.ts), for every entry alike. */
function unstorable({ request }: Review, pod: Pod): AdmissionDecision | undefined {
  if (!UID.test(pod.uid)) return unlike('object.metadata.uid', 'a UID of at most 36 characters');
  if (!UID.test(request.uid)) return unlike('request.uid', 'a UID of at most 36 characters');
  const isTooLong = request.namespace.length > LONGEST_NAMESPACE;
  return isTooLong ? unlike('request.namespace', `at most ${LONGEST_NAMESPACE} characters`) : undefined;
}

function unlike(field: string, expected: string): AdmissionDecision {
  return refuse(400, because('MalformedRequest', `${field}: expected ${expected}`, { field }));
}

/** Keyed by the pod's UID, which is final here; a resize by the request, for it adds to what the pod costs already. */
function reservationFor(
  { request, object, oldObject }: Review,
  { request: { pod }, before }: ChargeRequest,
  now: Instant,
): Reservation {
  const shared = {
    namespace: pod.namespace,
    pod: pod.name === '' ? request.name : pod.name,
    amounts: growth(chargeToPriorityQuota(pod), before === undefined ? NO_AMOUNTS : chargeToPriorityQuota(before)),
    admittedAt: now,
    claim: randomUUID().slice(0, CLAIM_LENGTH),
  };
  if (before === undefined) return { ...shared, uid: pod.uid };
  const generation = generationAfter(oldObject, object);
  const uid = resizeReservationUid(pod.uid, request.uid);
  return { ...shared, uid, ...(generation !== undefined && { generation }) };
}

/** An API server that numbers the specs of pods (1.33 on) has done so before it asks. */
function generationAfter(before: unknown, after: unknown): number | undefined {
  const [old, next] = [before, after].map((raw) => fieldOf(fieldOf(raw, 'metadata'), 'generation'));
  return Number.isSafeInteger(next) && Number(next) > Number(old) ? Number(next) : undefined;
}

function growth(after: Amounts, before: Amounts): Amounts {
  return filterAmounts(subtractAmounts(after, before), (_, amount) => quantitySign(amount) > 0);
}

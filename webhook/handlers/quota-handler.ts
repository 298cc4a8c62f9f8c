import type { PendingReservation, ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import { allowFor, refuseFor, type AdmissionDecision, type Refused } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { priorityQuotaExceeded } from '#shared/domain/admission/quota-refusals.ts';
import type { Pod, Instant } from '#shared/domain/pod/pod.ts';
import { type Amounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { growthTo, missingFor, chargeToPriorityQuota } from '#shared/domain/quota/charge.ts';
import { countsPod, type PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Namespace } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { Ledgers } from '#webhook/quota/ledgers.ts';
import type { PodLookUp } from '#webhook/cluster-state/pod-look-up.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';
import type { StateReader } from '#webhook/cluster-state/cached-state.ts';
import { refusalBeforeCharge, type ChargeRequest } from '#shared/domain/admission/decide-validation.ts';
import { isOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { ERRORS } from '#webhook/messages.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import type { PodSources } from './pod-handlers.ts';
import { randomUUID } from 'node:crypto';
import { malformed, malformedField, unexpectedResource } from '#shared/domain/admission/refusals.ts';
import { resizeReservationUid, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { decodePodRequest } from '#shared/kube/decode/decode-pod-request.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { Review } from '#webhook/server/admission-review.ts';

export interface QuotaSources {
  /** `DryRun` admits what would be refused, with a warning. */
  readonly mode: WebhookConfiguration['mode'];
  readonly cluster: StateReader;
  readonly ledgers: Ledgers;
  /** The cache, which may be behind or not filled yet. */
  readonly cachedNamespaces: Pick<Reflector<Namespace>, 'get'>;
  /**
   * The labels of a namespace, read from the API server; `undefined` if it does not exist. Rejects when they cannot be
   * read.
   */
  readonly readLabels: (namespace: string) => Promise<ReadonlyMap<string, string> | undefined>;
  readonly lookUpPods: PodLookUp;
  /** Which namespaces a refusal lists as the quota's largest holders. */
  readonly holdersNamed: WebhookConfiguration['quotaHoldersNamed'];
  /** How long reserving may take, reading included, in milliseconds. */
  readonly withinMs: number;
  readonly clock: Clock;
}

/**
 * Charges new pods, and the growth of resized ones, to every PriorityQuota that counts them: to all of them or to none.
 * A pod that another rule will refuse is refused here too and not charged.
 */
export function quotaHandler(sources: QuotaSources, checkFirst: CheckBeforeCharge): AdmissionHandler {
  return async (review) => {
    const giveUpAt = sources.clock.monotonic() + sources.withinMs;
    const read = readQuotaReview(review, sources.clock.now());
    if ('kind' in read) return read;
    const { pod } = read.request;
    const quotas = await quotasOf(sources, pod);
    if ('kind' in quotas) return quotas;
    const charges = chargesOf(quotas, read);
    // A class that needs a quota must not be usable where no quota counts it. This entry checks that too, and fails
    // closed.
    const refusal = read.before === undefined || charges.length > 0 ? await checkFirst(read) : undefined;
    if (refusal !== undefined) return refusal;
    const unstated = read.before === undefined ? unstatedIn(quotas, pod) : undefined;
    // In dry run, the pod is admitted with a warning, so it is charged.
    if (unstated !== undefined && sources.mode === 'Enforce') return unstated;
    const { reservation } = read;
    const decision = await reserveAll(sources, {
      charges,
      pod,
      reservation,
      isDryRun: review.request.isDryRun,
      giveUpAt,
    });
    return unstated ?? decision;
  };
}

/** The charge for each quota. A resize that does not change the usage of a quota is not charged to it. */
function chargesOf(quotas: readonly PriorityQuota[], { cost, before }: QuotaReview): ChargedReview['charges'] {
  const charges = quotas.map((quota) => ({ quota, amounts: growthTo(quota, cost.after, cost.before) }));
  return before === undefined ? charges : charges.filter(({ amounts }) => amounts.size > 0);
}

/** The refusal of the first quota for which a container does not state a value. */
function unstatedIn(quotas: readonly PriorityQuota[], pod: Pod): AdmissionDecision | undefined {
  for (const quota of quotas) {
    const missing = missingFor(quota, pod);
    const facts = { quota: quota.name, missing: missing ?? '' };
    if (missing !== undefined) return refuseFor(MESSAGES.quotaValuesMissing, facts, facts);
  }
  return undefined;
}

/** If a namespace cannot be read in time, the answer is 429, so that the client retries. */
export async function quotasOf(
  { cluster, cachedNamespaces, readLabels }: Pick<QuotaSources, 'cluster' | 'cachedNamespaces' | 'readLabels'>,
  pod: Pod,
): Promise<readonly PriorityQuota[] | AdmissionDecision> {
  const cached = cachedNamespaces.get(pod.namespace)?.labels;
  const labels = isEnforced(cached) ? cached : await readExisting(pod.namespace, readLabels).catch(errorText);
  if (typeof labels === 'string')
    return refuseFor(MESSAGES.quotaLabelsUnreadable, { cause: labels }, { namespace: pod.namespace });
  return cluster().priorityQuotas.filter(
    ({ namespaces, scope }) => namespaces.matches(labels) && countsPod(scope, pod),
  );
}

/** The API server calls this entry only for labelled namespaces: if a cache does not show the label, it is behind. */
function isEnforced(labels: ReadonlyMap<string, string> | undefined): labels is ReadonlyMap<string, string> {
  return isOn(NAMESPACE_SWITCHES.quotas, labels);
}

async function readExisting(namespace: string, readLabels: QuotaSources['readLabels']) {
  const labels = await readLabels(namespace);
  if (labels === undefined) throw new Error(ERRORS.missing(`namespace "${namespace}"`));
  return labels;
}

interface ChargedReview extends Omit<PendingReservation, 'reservation'> {
  readonly charges: readonly { readonly quota: PriorityQuota; readonly amounts: Amounts }[];
  readonly reservation: QuotaReview['reservation'];
  readonly pod: Pod;
}

/**
 * Reserves in one quota after the other, in order of their names, within one deadline; if a quota refuses, earlier
 * reservations are cancelled.
 */
async function reserveAll(sources: QuotaSources, wanted: ChargedReview): Promise<AdmissionDecision> {
  const { ledgers, clock } = sources;
  const { charges, pod, reservation: unpriced, isDryRun, giveUpAt } = wanted;
  if (charges.length === 0) return allowFor(MESSAGES.notCounted, {});
  const reserved: (() => void)[] = [];
  for (const { quota, amounts } of charges) {
    const withinMs = giveUpAt - clock.monotonic();
    const ledger = ledgers.ledger(quota.name);
    const reservation = { ...unpriced, amounts };
    const result = await ledger.reserve(reservation, { withinMs, isDryRun });
    if (result.kind === 'reserved' && !isDryRun) reserved.push(() => ledger.cancel(reservation));
    const refusal = await refusalOf(sources, result, quota, pod);
    if (refusal === undefined) continue;
    for (const cancel of reserved) cancel();
    return refusal;
  }
  const names = charges.map(({ quota }) => quota.name).join(', ');
  return allowFor(MESSAGES.quotaReserved, { quotas: names }, { quotas: names, uid: unpriced.uid });
}

async function refusalOf(
  { cluster, lookUpPods, holdersNamed }: QuotaSources,
  result: ReservationResult,
  quota: PriorityQuota,
  pod: Pod,
): Promise<AdmissionDecision | undefined> {
  switch (result.kind) {
    case 'reserved':
    case 'alreadyReserved':
    case 'gone':
      return undefined;
    case 'exceeded': {
      const knownPods = await lookUpPods([{ namespace: pod.namespace, selector: undefined }]);
      const namespaces = result.holders.filter((name) => holdersNamed === 'All' || name === pod.namespace);
      const holders = { namespaces, knownPods, now: cluster().now };
      return priorityQuotaExceeded(quota, pod, result.exceeded, holders);
    }
    case 'wasted':
      return wasted(quota, pod);
    case 'busy':
      return refuseFor(MESSAGES.quotaBusy, { quota: quota.name, cause: result.why }, { quota: quota.name });
  }
}

/** Wasted reservations expire after some minutes, and the debt for them decays in a few more. */
function wasted({ name }: PriorityQuota, { namespace }: Pod): AdmissionDecision {
  const facts = { quota: name, namespace };
  return refuseFor(MESSAGES.quotaWasted, facts, facts);
}

/** Returns why a pod must not be charged, if there is a reason; never rejects. */
type CheckBeforeCharge = (charge: ChargeRequest) => Promise<Refused | undefined>;

/**
 * Decides from the caches, and checks a refusal on live objects because a cache may lag. If those cannot be read, the
 * refusal stands: charging by mistake would be worse.
 */
export function checkBeforeCharge({
  cluster,
  liveState,
}: Pick<PodSources, 'cluster' | 'liveState'>): CheckBeforeCharge {
  return async (charge) => {
    // The webhook entry for pods does not cover our own accounts.
    if (OWN_ACCOUNTS.includes(charge.request.requester.name)) return undefined;
    const refusal = refusalBeforeCharge(charge, cluster());
    if (refusal === undefined) return undefined;
    const live = await liveState(charge.request).catch(() => undefined);
    return live === undefined ? refusal : refusalBeforeCharge(charge, live);
  };
}

/** In DryRun mode, a pod that would be refused is admitted, so it is charged. */
export const checkNothing: CheckBeforeCharge = () => Promise.resolve(undefined);

/** The reservation that a review needs; its pod is in the request's namespace. */
interface QuotaReview extends ChargeRequest {
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
function readQuotaReview(review: Review, now: Instant): QuotaReview | AdmissionDecision {
  const pods = readPods(review);
  if ('kind' in pods) return pods;
  const { request, before } = pods;
  const cost = {
    after: chargeToPriorityQuota(request.pod),
    before: before === undefined ? NO_AMOUNTS : chargeToPriorityQuota(before),
  };
  return unstorable(review, request.pod) ?? { ...pods, cost, reservation: reservationFor(review, pods, now) };
}

/** What costs a quota. */
const CHARGED = [
  { operation: 'CREATE', subresource: '' },
  { operation: 'UPDATE', subresource: 'resize' },
] as const;

function readPods({ request, object, oldObject }: Review): ChargeRequest | AdmissionDecision {
  const { resource, subresource, operation, namespace, requester } = request;
  const isCharged = CHARGED.some((each) => each.operation === operation && each.subresource === subresource);
  if (resource !== 'pods' || !isCharged) return unexpectedResource(request, 'pods or pods/resize');
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

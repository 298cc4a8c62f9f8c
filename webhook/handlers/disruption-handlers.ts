import { allowFor, refuseFor, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { decideDisruption, type RemovalRequest, refusalOfCaller } from '#shared/domain/admission/decide-disruption.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals.ts';
import { DEFAULT_OPT_OUT, DEFAULT_OPT_OUT_CEILING, type Protection } from '#shared/domain/eviction/protection.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { ownerWishes } from '#shared/kube/annotations/annotations.ts';
import { AGENT_ACCOUNT, callerComponent, OWN_ACCOUNTS, SCHEDULERS } from '#shared/kube/admission/cel-expressions.ts';
import { ACCOUNTS, FORMER_QUEUES_USER } from '#shared/kube/accounts/accounts.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import { type Clock, NOT_ABORTED, withDeadline } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import {
  type EvictionOptions,
  findEvictedPod,
  evictionProblem,
  readEviction,
} from '#webhook/evictions/read-eviction.ts';
import { isLastResortPreemption } from '#webhook/evictions/last-resort-preemption.ts';
import { unclearEviction, withinLimits, type EvictionLimitSources } from '#webhook/evictions/within-limits.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';

export interface DisruptionSources extends EvictionLimitSources {
  /** The protection rules for our evictions on a node. Rejects when they cannot be read. */
  readonly protectionOnNode: (nodeName: string | undefined, timeoutMs: number) => Promise<Protection>;
  /** The annotations of a priority class. */
  readonly classAnnotations: (name: string) => ReadonlyMap<string, string> | undefined;
  /** Whether a namespace has the ignore label. Rejects when it cannot be read. */
  readonly isIgnored: (namespace: string, timeoutMs: number) => Promise<boolean>;
  /** How long one decision may take, in milliseconds. */
  readonly withinMs: number;
  readonly clock: Clock;
}

/** Handles deletions of pods; the pod is in oldObject, also when a whole collection is deleted. */
export function deletionHandler(sources: DisruptionSources): AdmissionHandler {
  return ({ request, oldObject }) => {
    if (request.resource !== 'pods' || request.subresource !== '') return unexpectedResource(request, 'pods');
    if (request.operation !== 'DELETE') return allowFor(MESSAGES.removesNoPod, request);
    const decoded = decodePod(oldObject);
    if (!decoded.ok) return unreadable(request, decoded);
    const disruption = disruptionOf('deletion', decoded.value, { request }, sources);
    const decision = decideDisruption(disruption);
    const isOptOut = disruption.caller === 'scheduler' && decision.kind === 'refused';
    return isOptOut ? unlessLastResort(sources, disruption, decision) : decision;
  };
}

/** The API server waits for two seconds, in which the request is read, too. */
const LAST_RESORT_MS = 400;

/** A pod that opted out yields to a DaemonSet's pod that has no other victims (S2-29). In doubt, it stays. */
async function unlessLastResort(
  { client, classAnnotations, withinMs, clock }: DisruptionSources,
  disruption: RemovalRequest,
  refusal: AdmissionDecision,
): Promise<AdmissionDecision> {
  const optedOut = ({ annotations, spec }: Pod): boolean =>
    !ownerWishes(annotations, classAnnotations(spec.priorityClassName ?? '')).mayBePreempted;
  const ask = (signal: AbortSignal) => isLastResortPreemption(client, { victim: disruption.pod, optedOut, signal });
  const isLast = await withDeadline(ask, Math.min(withinMs, LAST_RESORT_MS), clock, NOT_ABORTED).catch(() => false);
  return isLast ? decideDisruption({ ...disruption, wishes: { ...disruption.wishes, mayBePreempted: true } }) : refusal;
}

/**
 * Our own accounts must not remove a pod that we cannot read. Other callers may, above all the scheduler: otherwise a
 * pod could avoid preemption by being unreadable to us.
 */
function unreadable(request: Request, fault: { readonly field: string; readonly message: string }): AdmissionDecision {
  const { namespace, name } = request;
  const values = { field: fault.field, cause: fault.message };
  if (isOwn(request)) return refuseFor(MESSAGES.podUnreadableToUs, values, { namespace, name });
  return allowFor(MESSAGES.podUnreadable, values, { namespace, name });
}

/**
 * Handles evictions. The review does not contain the pod, so it is read for our own accounts, which must follow rules
 * about it. If such a decision cannot be made for any reason, the eviction is refused (docs/contributing/threats.md).
 */
export function evictionHandler(sources: DisruptionSources): AdmissionHandler {
  return ({ request, object }) => {
    const { resource, subresource, namespace, name } = request;
    if (resource !== 'pods' || subresource !== 'eviction') return unexpectedResource(request, 'pods/eviction');
    const problem = evictionProblem(object, name);
    if (problem !== undefined) return malformed('object', problem);
    if (!isOwn(request)) return allowFor(MESSAGES.disruptionAccepted, { kind: 'eviction' }, { namespace, name });
    const eviction = { request, wanted: readEviction(object) };
    const facts = { kind: 'eviction', caller: callerOf(eviction), namespace, name };
    return decideOwnEviction(sources, eviction).catch((error: unknown) => unclearEviction(errorText(error), facts));
  };
}

/** The time left for a decision. */
interface Deadline {
  /** By the monotonic clock. */
  readonly giveUpAt: number;
  /** In milliseconds, at least one. */
  readonly timeLeft: () => number;
}

type Request = Review['request'];

interface OwnEviction extends RemovalReview {
  readonly wanted: EvictionOptions;
}

async function decideOwnEviction(sources: DisruptionSources, eviction: OwnEviction): Promise<AdmissionDecision> {
  const { client, clock, withinMs } = sources;
  const giveUpAt = clock.monotonic() + withinMs;
  const deadline = { giveUpAt, timeLeft: () => Math.max(1, giveUpAt - clock.monotonic()) };
  const found = await findEvictedPod(client, eviction.request, deadline.timeLeft());
  if (found === undefined) return missingPod(eviction);
  return found.ok ? decideEvictionOf(sources, found.value, eviction, deadline) : unreadable(eviction.request, found);
}

/** Without a UID, the eviction could hit a new pod with the same name. */
function missingPod({ request: { namespace, name }, wanted }: OwnEviction): AdmissionDecision {
  return wanted.expectedUid === undefined
    ? refuseFor(MESSAGES.noSuchPodNoUid, {}, { namespace, name })
    : allowFor(MESSAGES.noSuchPod, {}, { namespace, name });
}

async function decideEvictionOf(
  sources: DisruptionSources,
  pod: Pod,
  { request, wanted }: OwnEviction,
  deadline: Deadline,
): Promise<AdmissionDecision> {
  const isDryRun = request.isDryRun || wanted.isDryRun;
  const asked = { ...disruptionOf('eviction', pod, { request, wanted }, sources), ...wanted, isDryRun };
  // Checked before anything else is read: a stolen token must not make the API server work for pods of other nodes.
  const refusal = refusalOfCaller(asked);
  if (refusal !== undefined) return refusal;
  const { limits, ...protection } = await protectionOf(pod, asked.caller, sources, deadline);
  const disruption = { ...asked, ...protection };
  const decision = decideDisruption(disruption);
  // A pod that is already terminating is not counted: this eviction does not disrupt it.
  const isCounted = !isDryRun && pod.deletion === undefined;
  if (decision.kind === 'refused' || !isCounted) return decision;
  const ofNode = disruption.caller === 'agent' ? limits : undefined;
  const { urgency } = wanted;
  const debit = askedBy(request.requester.name, ofNode !== undefined && urgency !== undefined);
  return withinLimits(sources, { pod, limits: ofNode, urgency, asked: debit, accepted: decision, ...deadline });
}

/** In the severe stage the agent may exceed DisruptionLimits, but never a PodDisruptionBudget. */
function askedBy(caller: string, mayOverrun: boolean) {
  const kind = mayOverrun ? 'overrun' : 'evict';
  return { kind, caller, component: callerComponent(caller) } as const;
}

/** The rules that the agent of the pod's node follows, read from the API server. */
async function protectionOf(
  { namespace, spec }: Pod,
  caller: RemovalRequest['caller'],
  sources: DisruptionSources,
  { timeLeft }: Deadline,
) {
  const [{ namespaces, ...rest }, isIgnored] = await Promise.all([
    sources.protectionOnNode(spec.nodeName, timeLeft()),
    sources.isIgnored(namespace, timeLeft()),
  ]);
  // What a NodePressurePolicy protects is protected from the pressure of its node, not from the guarantees of queues.
  const ofPolicy = caller === 'queues' ? [] : namespaces;
  const protectedNamespaces = [...PROTECTED_NAMESPACES, ...ofPolicy, ...(isIgnored ? [namespace] : [])];
  return { ...rest, protectedNamespaces: new Set(protectedNamespaces) };
}

interface RemovalReview {
  readonly request: Request;
  /** Only of an eviction. */
  readonly wanted?: EvictionOptions | undefined;
}

function disruptionOf(
  kind: RemovalRequest['kind'],
  pod: Pod,
  { request, wanted }: RemovalReview,
  { classAnnotations }: DisruptionSources,
): RemovalRequest {
  return {
    kind,
    caller: callerOf({ request, wanted }),
    callerNode: request.requester.nodeName,
    pod,
    expectedUid: undefined,
    gracePeriodSeconds: undefined,
    isDryRun: request.isDryRun,
    wishes: ownerWishes(pod.annotations, classAnnotations(pod.spec.priorityClassName ?? '')),
    protectedNamespaces: new Set(PROTECTED_NAMESPACES),
    optOutCeiling: DEFAULT_OPT_OUT_CEILING,
    optOut: DEFAULT_OPT_OUT,
    policy: undefined,
  };
}

function isOwn({ requester }: Request): boolean {
  return OWN_ACCOUNTS.includes(requester.name);
}

function callerOf({ request, wanted }: RemovalReview): RemovalRequest['caller'] {
  const { name } = request.requester;
  if (name === AGENT_ACCOUNT) return 'agent';
  const isForQueues = name === ACCOUNTS.controller.user && wanted?.isForQueues === true;
  if (isForQueues || name === FORMER_QUEUES_USER) return 'queues';
  if (isOwn(request)) return 'plimsoll';
  return SCHEDULERS.includes(name) ? 'scheduler' : 'other';
}

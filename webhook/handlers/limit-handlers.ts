import { type AdmissionDecision, allowFor } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { malformed, unexpectedResource } from '#shared/domain/admission/refusals.ts';
import { callerComponent } from '#shared/kube/admission/cel-expressions.ts';
import { hasNotRun } from '#shared/domain/disruption/disruption-limit.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import type { AskedRemoval, DisruptionAccounts } from '#webhook/evictions/disruption-accounts.ts';
import { evictionProblem, findEvictedPod, readEviction } from '#webhook/evictions/read-eviction.ts';
import { notDebited, unclearEviction } from '#webhook/evictions/within-limits.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';

interface LimitHandlerSources {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly accounts: DisruptionAccounts;
  /** How long one decision may take, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Handles removals in namespaces whose limits are enforced: evictions by all users are debited or refused; deletions
 * are counted and never refused. Another entry checks our own evictions, in every namespace.
 */
export function limitHandler(sources: LimitHandlerSources): AdmissionHandler {
  return (review) => {
    const { resource, subresource, operation } = review.request;
    if (resource !== 'pods') return unexpectedResource(review.request, 'pods');
    if (subresource === 'eviction') return evictionUnderLimits(sources, review);
    if (subresource !== '') return unexpectedResource(review.request, 'pods/eviction');
    return operation === 'DELETE' ? countedDeletion(sources, review) : allowFor(MESSAGES.removesNoPod, review.request);
  };
}

/** Decides a deletion that cannot be counted now; the record of removed pods counts it later. */
export function acceptDeletion({ request: { namespace, name } }: Pick<Review, 'request'>): AdmissionDecision {
  return allowFor(MESSAGES.disruptionAccepted, { kind: 'deletion' }, { namespace, name });
}

/** Refuses the eviction if no decision is possible for any reason; with 429, so that drains retry. */
function evictionUnderLimits(
  sources: LimitHandlerSources,
  review: Review,
): AdmissionDecision | Promise<AdmissionDecision> {
  const { request, object } = review;
  const { namespace, name } = request;
  const problem = evictionProblem(object, name);
  if (problem !== undefined) return malformed('object', problem);
  const facts = { kind: 'eviction', namespace, name };
  return decideEviction(sources, review).catch((error: unknown) => unclearEviction(errorText(error), facts));
}

async function decideEviction(sources: LimitHandlerSources, { request, object }: Review): Promise<AdmissionDecision> {
  const { client, clock, withinMs, accounts } = sources;
  const { namespace, name } = request;
  if (accounts.limitsNothing(namespace))
    return allowFor(MESSAGES.disruptionAccepted, { kind: 'eviction' }, { namespace, name });
  const giveUpAt = clock.monotonic() + withinMs;
  // Requested before the pod, so that both answers come in one round trip.
  const begun = accounts.begin(namespace, giveUpAt);
  const found = await findEvictedPod(client, request, withinMs);
  if (found === undefined) return allowFor(MESSAGES.noSuchPod, {}, { namespace, name });
  if (!found.ok) return unclearEviction(`${found.field}: ${found.message}`, { kind: 'eviction', namespace, name });
  const { isDryRun, expectedUid } = readEviction(object);
  const pod = found.value;
  const accepted = allowFor(MESSAGES.disruptionAccepted, { kind: 'eviction' }, { namespace, name, uid: pod.uid });
  // The API server refuses an eviction with another UID.
  if (isHarmless(pod) || (expectedUid ?? pod.uid) !== pod.uid) return accepted;
  const isTrial = request.isDryRun || isDryRun;
  const asked = { ...askedOf(request, pod, giveUpAt), begun, isDryRun: isTrial, kind: 'evict' } as const;
  const debited = await accounts.debit(asked);
  return debited.kind === 'debited' ? accepted : notDebited({ pod, accepted }, debited);
}

/**
 * Counts a deletion. One of a collection does not wait for its count, because the API server deletes the pods of a
 * collection one after the other; what is not counted in time, the record of removed pods counts.
 */
function countedDeletion(
  { accounts, clock, withinMs }: LimitHandlerSources,
  review: Review,
): AdmissionDecision | Promise<AdmissionDecision> {
  const { request, oldObject } = review;
  const accepted = acceptDeletion(review);
  const decoded = decodePod(oldObject);
  if (!decoded.ok || request.isDryRun || isHarmless(decoded.value)) return accepted;
  const asked = askedOf(request, decoded.value, clock.monotonic() + withinMs);
  const counted = accounts.debit({ ...asked, isDryRun: false, kind: 'count' });
  const isOfCollection = request.name === '';
  return isOfCollection ? accepted : counted.then(() => accepted);
}

function askedOf(
  { requester }: Review['request'],
  pod: Pod,
  giveUpAt: number,
): Omit<AskedRemoval, 'kind' | 'isDryRun'> {
  return { pod, giveUpAt, caller: requester.name, component: callerComponent(requester.name) };
}

/** A pod whose removal does no harm, or no more. */
function isHarmless(pod: Pod): boolean {
  return pod.deletion !== undefined || hasEnded(pod) || hasNotRun(pod);
}

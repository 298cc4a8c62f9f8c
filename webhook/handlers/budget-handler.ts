import { isDeepStrictEqual } from 'node:util';
import {
  type BudgetResponse,
  countPods,
  forbidsEverything,
  type WrittenBudget,
} from '#shared/domain/disruption/disruption-limit.ts';
import { type AdmissionDecision, allow, allowFor, refuseFor } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import type { DisruptionBudget } from '#shared/domain/snapshot/placed-pod.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeBudget, decodeWrittenBudget } from '#shared/kube/decode/decode-objects.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { readNamespacePods } from '#shared/kube/list/read-some.ts';
import { type Clock, NOT_ABORTED, withDeadline } from '#shared/runtime/clock.ts';
import { readBudgets } from '#webhook/evictions/covering-limits.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';

export interface BudgetSources {
  readonly client: KubeClient;
  readonly clock: Clock;
  /** What the DisruptionPolicy says about budgets that forbid every eviction. */
  readonly budgetResponse: () => BudgetResponse;
  /** How long one decision may take, in milliseconds. */
  readonly withinMs: number;
}

/**
 * Handles PodDisruptionBudgets by the pods that they select now: with three pods, 99% of them are all of them (S3-17),
 * and a pod under a second budget can no longer be evicted at all. Without an answer about the pods, what forbids any
 * number of them is left to the API server.
 */
export function withBudgets(handle: AdmissionHandler, sources: BudgetSources): AdmissionHandler {
  return (review) => {
    const { group, resource, subresource } = review.request;
    const isBudget = group === 'policy' && resource === 'poddisruptionbudgets' && subresource === '';
    return isBudget ? decideBudget(sources, review) : handle(review);
  };
}

async function decideBudget(sources: BudgetSources, review: Review): Promise<AdmissionDecision> {
  const accepted = allowFor(MESSAGES.budgetAccepted, {});
  const response = sources.budgetResponse();
  if (response === 'Show') return accepted;
  const find = (signal: AbortSignal) => findFault(sources, review, signal);
  const refused = await withDeadline(find, sources.withinMs, sources.clock, NOT_ABORTED).catch(() => undefined);
  if (refused === undefined) return accepted;
  return response === 'Deny' ? refused : allow(refused.because, [refused.because.text]);
}

/** The refusal of a budget under which some of its pods cannot be evicted. */
async function findFault(sources: BudgetSources, review: Review, signal: AbortSignal) {
  const { namespace } = review.request;
  const [written, budget] = [decodeWrittenBudget(review.object), decodeBudget(review.object)];
  if (!written.ok || !budget.ok) return undefined;
  const mayForbid = written.value.minAvailable !== undefined;
  const mayOverlap = selectsAnew(review);
  if (!mayForbid && !mayOverlap) return undefined;
  const pods = await selectedPods(sources, namespace, budget.value, signal);
  const refused = mayForbid ? forbiddingAmong(pods, written.value) : undefined;
  if (refused !== undefined || !mayOverlap || pods.length === 0) return refused;
  const others = await readBudgets(sources.client, namespace, sources.withinMs);
  const facts = overlapAmong(
    pods,
    others.filter(({ name }) => name !== budget.value.name),
  );
  return facts && refuseFor(MESSAGES.budgetOverlaps, facts, facts);
}

function forbiddingAmong(pods: readonly Pod[], written: WrittenBudget) {
  const { expected } = countPods(pods);
  const now: WrittenBudget = { ...written, expectedPods: expected, desiredHealthy: 0 };
  const field = forbidsEverything(now);
  const facts = field && { field, value: now[field] ?? '', pods: expected };
  return facts && refuseFor(MESSAGES.budgetForbids, facts, facts);
}

async function selectedPods(
  { client, withinMs: timeoutMs }: BudgetSources,
  namespace: string,
  { selector }: DisruptionBudget,
  signal: AbortSignal,
): Promise<readonly Pod[]> {
  const { matches } = prepareSelector(selector);
  const pods = await readNamespacePods(client, namespace, { timeoutMs, signal });
  return pods.filter(({ labels }) => matches(labels));
}

/** An update that leaves the selector as it is causes no overlap. */
function selectsAnew({ object, oldObject }: Review): boolean {
  const selectorIn = (raw: unknown): unknown => fieldOf(fieldOf(raw, 'spec'), 'selector');
  return !isDeepStrictEqual(selectorIn(object), selectorIn(oldObject));
}

/** The other budget that selects most of these pods; the first by name. */
function overlapAmong(pods: readonly Pod[], others: readonly DisruptionBudget[]) {
  const present = pods.filter((pod) => !hasEnded(pod) && pod.deletion === undefined);
  const shared = others.toSorted(byName).map(({ name, selector }) => {
    const { matches } = prepareSelector(selector);
    return { other: name, pods: present.filter(({ labels }) => matches(labels)).length };
  });
  return shared.toSorted((a, b) => b.pods - a.pods).find((each) => each.pods > 0);
}

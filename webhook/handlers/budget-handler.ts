import {
  type BudgetResponse,
  countPods,
  forbidsEverything,
  type WrittenBudget,
} from '#shared/domain/disruption/disruption-limit.ts';
import { type AdmissionDecision, allow, allowFor, refuseFor } from '#shared/domain/admission/decision.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import type { KubeClient } from '#shared/kube/client/client.ts';
import { decodeBudget, decodeWrittenBudget } from '#shared/kube/decode/decode-objects.ts';
import { readNamespacePods } from '#shared/kube/list/read-some.ts';
import { type Clock, NOT_ABORTED, withDeadline } from '#shared/runtime/clock.ts';
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
 * Handles PodDisruptionBudgets by the pods that they select now: with three pods, 99% of them are all of them (S3-17).
 * Without an answer about the pods, what forbids any number of them is left to the API server.
 */
export function withBudgets(handle: AdmissionHandler, sources: BudgetSources): AdmissionHandler {
  return (review) => {
    const { group, resource, subresource } = review.request;
    const isBudget = group === 'policy' && resource === 'poddisruptionbudgets' && subresource === '';
    return isBudget ? decideBudget(sources, review) : handle(review);
  };
}

async function decideBudget(sources: BudgetSources, { request, object }: Review): Promise<AdmissionDecision> {
  const accepted = allowFor(MESSAGES.budgetAccepted, {});
  const response = sources.budgetResponse();
  const [written, budget] = [decodeWrittenBudget(object), decodeBudget(object)];
  if (response === 'Show' || !written.ok || !budget.ok) return accepted;
  const { minAvailable, maxUnavailable } = written.value;
  if (minAvailable === undefined) return accepted;
  const count = (signal: AbortSignal) => countSelected(sources, request.namespace, budget.value.selector, signal);
  const pods = await withDeadline(count, sources.withinMs, sources.clock, NOT_ABORTED).catch(() => 0);
  const now: WrittenBudget = { minAvailable, maxUnavailable, expectedPods: pods, desiredHealthy: 0 };
  const field = forbidsEverything(now);
  if (field === undefined) return accepted;
  const facts = { field, value: now[field] ?? '', pods };
  const refused = refuseFor(MESSAGES.budgetForbids, facts, facts);
  return response === 'Deny' ? refused : allow(refused.because, [refused.because.text]);
}

async function countSelected(
  { client, withinMs: timeoutMs }: BudgetSources,
  namespace: string,
  selector: Parameters<typeof prepareSelector>[0],
  signal: AbortSignal,
): Promise<number> {
  const { matches } = prepareSelector(selector);
  const pods = await readNamespacePods(client, namespace, { timeoutMs, signal });
  return countPods(pods.filter(({ labels }) => matches(labels))).expected;
}

import { byName } from '#shared/domain/model/compare-texts.ts';
import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { reviewPolicies } from '#shared/domain/priority/review-policies.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import type { Condition } from '#shared/kube/conditions.ts';
import type { Reflector } from '#shared/kube/reflector/reflector.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { inSlices } from '#shared/runtime/turns/in-slices.ts';
import type { Caches } from '#webhook/cluster-state/caches.ts';
import { policyConditions, quotaConditions } from './describe-conditions.ts';

/** Conditions by object name. Rejects when the signal aborts. */
export type WantedConditions = (signal: AbortSignal) => Promise<ReadonlyMap<string, readonly Condition[]>>;

/**
 * Computes the conditions of policies. With hundreds of policies and 10,000 namespaces this is a second of work, so it
 * runs in small steps, and only after a change.
 */
export function wantedPolicyConditions(caches: Caches, clock: Clock): WantedConditions {
  const { classes, namespaces, policies } = caches;
  return untilChanged([classes, namespaces, policies], (signal) => inSlices(reviewAllPolicies(caches), clock, signal));
}

/** Computes the conditions of quotas. */
export function wantedQuotaConditions(caches: Caches, clock: Clock): WantedConditions {
  const { classes, namespaces, priorityQuotas } = caches;
  const inputs = [classes, namespaces, priorityQuotas];
  return untilChanged(inputs, (signal) => inSlices(reviewAllQuotas(caches), clock, signal));
}

function* reviewAllPolicies(caches: Caches): Steps<ReadonlyMap<string, readonly Condition[]>> {
  const reviews = yield* reviewPolicies({
    policies: [...caches.policies.values()].toSorted(byName),
    classes: classesOf(caches),
    namespaces: Array.from(caches.namespaces.values(), ({ labels }) => labels),
  });
  return new Map(reviews.map((review) => [review.policy, policyConditions(review)]));
}

function* reviewAllQuotas(caches: Caches): Steps<ReadonlyMap<string, readonly Condition[]>> {
  const conditions = new Map<string, readonly Condition[]>();
  const namespaces = [...caches.namespaces.values()];
  const classes = classesOf(caches);
  for (const quota of [...caches.priorityQuotas.values()]) {
    conditions.set(quota.name, quotaConditions(quota, namespaces, classes));
    yield;
  }
  return conditions;
}

function classesOf({ classes }: Caches): ReadonlyMap<string, PriorityClass> {
  return new Map(Array.from(classes.values(), (each) => [each.name, each]));
}

/** Caches a result until one of its inputs changes; a change during the computation invalidates it too. */
function untilChanged<T>(
  inputs: readonly Pick<Reflector<unknown>, 'onChange'>[],
  compute: (signal: AbortSignal) => Promise<T>,
): (signal: AbortSignal) => Promise<T> {
  let changes = 0;
  let known: { readonly value: T; readonly at: number } | undefined;
  for (const input of inputs) input.onChange(() => void (changes += 1));
  return async (signal) => {
    if (known?.at === changes) return known.value;
    const at = changes;
    const value = await compute(signal);
    known = { value, at };
    return value;
  };
}

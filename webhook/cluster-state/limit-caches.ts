import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type {
  BudgetResponse,
  DisruptionLimit,
  DisruptionPolicy,
  LimitsOfNamespace,
} from '#shared/domain/disruption/disruption-limit.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, derived, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { DISRUPTION_LIMITS, DISRUPTION_POLICIES, type Resource, resourceLabel } from '#shared/kube/resource.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { ERRORS } from '#webhook/messages.ts';
import { byNamespace } from './cached-state.ts';

/** An object that may limit removals; if it cannot be decoded, that is recorded, because it could be a limit. */
interface Copied<T> {
  readonly namespace: string;
  readonly name: string;
  readonly decoded: Decoded<T>;
}

/**
 * The limits and policies of the cluster. Readiness does not wait for them: until they are synced, they are read for
 * each removal.
 */
export interface LimitCaches {
  readonly limits: Reflector<Copied<DisruptionLimit>>;
  readonly policies: Reflector<Copied<DisruptionPolicy>>;
}

/** The limits on removals in a namespace, without its budgets. */
export type NamespaceLimits = Omit<LimitsOfNamespace, 'budgets'>;

/** Per namespace. A larger number would have to be compared with each of its pods. */
export const MAX_LIMITS = 200;
/** Bookmarks come about every minute: after a longer silence a new limit may have been missed. */
const MAX_SILENCE_MS = 90_000;

/** Nothing is read before the reflectors run. */
export function createLimitCaches(options: ClientContext): LimitCaches {
  const copies = <T>(resource: Resource, decode: (raw: unknown) => Decoded<T>): Reflector<Copied<T>> =>
    createReflector({ ...options, resource, slim: (raw) => copied(raw, decode) });
  return {
    limits: copies(DISRUPTION_LIMITS, decodeDisruptionLimit),
    policies: copies(DISRUPTION_POLICIES, decodeDisruptionPolicy),
  };
}

function copied<T>(raw: KubeObject, decode: (raw: unknown) => Decoded<T>): Copied<T> {
  const { namespace = '', name = '' } = raw.metadata;
  return { namespace, name, decoded: decode(raw) };
}

/**
 * The known limits on removals in a namespace; `undefined` while they are not known: before the first list, and if the
 * API server has been silent for too long. Throws if an object cannot be decoded that could be a limit.
 */
export function createLimitLookUp({ limits, policies }: LimitCaches, clock: Pick<Clock, 'monotonic'>) {
  const limitsOf = byNamespace(limits);
  const first = derived([policies], () => [...policies.values()].map((each) => valueOf(each, DISRUPTION_POLICIES))[0]);
  const isCurrent = (cache: Pick<Reflector<unknown>, 'isSynced' | 'lastContactMs'>): boolean =>
    cache.isSynced() && clock.monotonic() - (cache.lastContactMs() ?? -Infinity) <= MAX_SILENCE_MS;
  return (namespace: string): NamespaceLimits | undefined => {
    if (!isCurrent(limits) || !isCurrent(policies)) return undefined;
    const own = limitsOf(namespace);
    if (own.length > MAX_LIMITS)
      throw new Error(ERRORS.list(resourceLabel(DISRUPTION_LIMITS), `more than ${MAX_LIMITS}`));
    return { limits: own.map((each) => valueOf(each, DISRUPTION_LIMITS)), policy: first() };
  };
}

function valueOf<T>({ name, decoded }: Copied<T>, resource: Resource): T {
  if (decoded.ok) return decoded.value;
  throw new Error(ERRORS.readFields(`${resourceLabel(resource)} "${name}"`, decoded.field, decoded.message));
}

/** What happens to budgets that forbid every eviction; nothing without a readable policy, as in the API server. */
export function budgetResponse({ policies }: Pick<LimitCaches, 'policies'>): BudgetResponse {
  const [policy] = policies.values();
  return policy?.decoded.ok === true ? policy.decoded.value.forbiddingBudgets : 'Show';
}

/** Whether no limit can cover a pod of the namespace. */
export function limitsNothing({ limits, policy }: NamespaceLimits): boolean {
  return limits.length === 0 && (policy?.defaults ?? []).length === 0;
}

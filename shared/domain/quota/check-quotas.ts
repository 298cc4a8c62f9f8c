import { filterAmounts, sortedNames } from '#shared/domain/model/amounts.ts';
import type { ApiRefusal } from '#shared/domain/model/api-refusal.ts';
import { untypedError } from '#shared/domain/model/api-refusal.ts';
import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import { quantitySign } from '#shared/domain/model/quantity.ts';
import { podCharge } from './charge.ts';
import { limitedNames, limitedScopes, uncoveredNames, uncoveredScopes } from './limited-use.ts';
import type { QuotaRequest } from './quota-request.ts';
import { concernsQuota, refusePod } from './quota-request.ts';
import { addedTo, requestCost } from './request-cost.ts';
import { missingValues } from './required-values.ts';
import type { LimitedResource, ResourceQuota, ScopeTerm } from './resource-quota.ts';
import { concernedResources, matchingScopes, scopeText } from './scopes.ts';
import type { Settled } from './settle-bills.ts';
import { settleBills } from './settle-bills.ts';

const FREE: Settled = { kind: 'allowed', newUsed: new Map() };

/**
 * Whether the quotas of a namespace have room for a request, as the ResourceQuota plugin decides it; the first failure
 * is the answer and nothing is written then (oddity K5). `quotas` in the order in which they are looked at, `limited`
 * from the configuration. A dry run is decided alike; not to write its usage is the caller's part (oddity K13).
 * apiserver `pkg/admission/plugin/resourcequota/controller.go` CheckRequest.
 */
export function checkQuotas(
  quotas: readonly ResourceQuota[],
  limited: readonly LimitedResource[],
  request: QuotaRequest,
  now: Instant,
): Settled | ApiRefusal {
  if (quotas.length === 0 && limited.length === 0) return FREE;
  const { pod } = request;
  const scopesInUse = concernsQuota(request) ? limitedScopes(limited, pod) : undefined;
  if (scopesInUse === undefined) return FREE;
  const found = findConcerned(quotas, pod);
  if (found.kind === 'refused') return found;
  const charge = podCharge(pod, now);
  const negative = sortedNames(filterAmounts(charge, (_, amount) => quantitySign(amount) < 0));
  if (negative.length > 0) return refusePod(pod, `quota usage is negative for resource(s): ${negative.join(',')}`);
  const cost = requestCost(request, charge, now);
  const bills = found.quotas.map((quota) => ({ quota, added: addedTo(quota, request, cost) }));
  const isFree = bills.length === 0 ? cost.growth.size === 0 : bills.every(({ added }) => added.size === 0);
  if (isFree) return FREE;
  return (
    refuseUncovered(pod, uncoveredNames(limitedNames(limited, charge), found.quotas)) ??
    refuseUncoveredScopes(uncoveredScopes(scopesInUse, found.matchedScopes)) ??
    settleBills(bills, pod)
  );
}

interface Concerned {
  readonly kind: 'concerned';
  readonly quotas: readonly ResourceQuota[];
  /** Matching terms of all quotas, also of those that do not match as a whole (oddity K3). */
  readonly matchedScopes: readonly ScopeTerm[];
}

/** The quotas that match the pod, unless one of them is not ready for it. */
function findConcerned(quotas: readonly ResourceQuota[], pod: Pod): Concerned | ApiRefusal {
  const concerned: ResourceQuota[] = [];
  const matchedScopes: ScopeTerm[] = [];
  for (const quota of quotas) {
    const scopes = matchingScopes(quota.scopes, pod);
    if (scopes.kind === 'fault') return refuseFaultyScope(quota, scopes);
    matchedScopes.push(...scopes.terms);
    const names = concernedResources(quota, scopes.terms);
    const refusal = refuseUnready(quota, names, pod);
    if (refusal !== undefined) return refusal;
    if (names.length > 0) concerned.push(quota);
  }
  return { kind: 'concerned', quotas: concerned, matchedScopes };
}

/** A term that cannot be evaluated blocks every pod of the namespace (oddity K2). */
function refuseFaultyScope(quota: ResourceQuota, fault: { readonly term: ScopeTerm; readonly message: string }) {
  const why = `error on matching scope ${scopeText(fault.term)}: ${fault.message}`;
  return untypedError(`error matching scopes of quota ${quota.name}, err: ${why}`);
}

/** Every value demanded must be stated, and every limited resource already counted. */
function refuseUnready({ name, used }: ResourceQuota, names: readonly string[], pod: Pod): ApiRefusal | undefined {
  const missing = missingValues(names, pod);
  if (missing !== undefined) return refusePod(pod, `failed quota: ${name}: ${missing}`);
  if (names.every((resource) => used.has(resource))) return undefined;
  return refusePod(pod, `status unknown for quota: ${name}, resources: ${names.toSorted().join(',')}`);
}

function refuseUncovered(pod: Pod, names: readonly string[]): ApiRefusal | undefined {
  return names.length === 0 ? undefined : refusePod(pod, `insufficient quota to consume: ${names.join(',')}`);
}

/** An error without a type, HTTP 500, though it is a decision (oddity K1). */
function refuseUncoveredScopes(terms: readonly ScopeTerm[]): ApiRefusal | undefined {
  if (terms.length === 0) return undefined;
  return untypedError(`insufficient quota to match these scopes: [${terms.map(scopeText).join(' ')}]`);
}

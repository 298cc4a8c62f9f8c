import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type { LimitsOfNamespace } from '#shared/domain/disruption/covering-rules.ts';
import type { DisruptionLimit, DisruptionPolicy } from '#shared/domain/disruption/disruption-limit.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { DISRUPTION_LIMITS, DISRUPTION_POLICIES } from '#shared/kube/resource.ts';

/** The limits of the cluster, kept current by watches while a replica leads. */
export interface KnownLimits {
  readonly limits: Reflector<DisruptionLimit>;
  readonly policies: Reflector<DisruptionPolicy>;
}

/** Nothing is read before they run. */
export function createKnownLimits(options: ClientContext): KnownLimits {
  const shared = { ...options, backoff: REFLECTOR_BACKOFF };
  return {
    limits: createReflector({ ...shared, resource: DISRUPTION_LIMITS, slim: decodeWith(decodeDisruptionLimit) }),
    policies: createReflector({ ...shared, resource: DISRUPTION_POLICIES, slim: decodeWith(decodeDisruptionPolicy) }),
  };
}

/** What limits removals in a namespace, as it is known now for all namespaces that are asked about. */
export function limitsByNamespace(
  known: KnownLimits,
  { budgets }: Pick<ClusterSnapshot, 'budgets'>,
): (namespace: string) => LimitsOfNamespace {
  const limits = Map.groupBy(known.limits.values(), ({ namespace }) => namespace);
  const [policy] = known.policies.values();
  return (namespace) => ({
    limits: limits.get(namespace) ?? [],
    budgets: Array.from(budgets.get(namespace)?.values() ?? [], ({ selector }) => selector),
    policy,
  });
}

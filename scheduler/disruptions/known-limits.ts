import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type { LimitObjects } from '#shared/domain/disruption/covering-rules.ts';
import type { DisruptionLimit, DisruptionPolicy } from '#shared/domain/disruption/disruption-limit.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { DISRUPTION_LIMITS, DISRUPTION_POLICIES } from '#shared/kube/resource.ts';

/** The limits of the cluster, kept current by watches while a replica leads. */
export interface KnownLimits {
  readonly limits: Reflector<DisruptionLimit>;
  readonly policies: Reflector<DisruptionPolicy>;
}

/** Nothing is read before the reflectors run. */
export function createKnownLimits(options: ClientContext): KnownLimits {
  const shared = { ...options, backoff: REFLECTOR_BACKOFF };
  return {
    limits: createReflector({ ...shared, resource: DISRUPTION_LIMITS, slim: decodeWith(decodeDisruptionLimit) }),
    policies: createReflector({ ...shared, resource: DISRUPTION_POLICIES, slim: decodeWith(decodeDisruptionPolicy) }),
  };
}

/** The limits as currently known. */
export function limitObjects({ limits, policies }: KnownLimits): LimitObjects {
  return { limits: limits.values(), policies: policies.values() };
}

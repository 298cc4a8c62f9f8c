import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import { decodeDisruptionPolicy } from '#shared/api/disruption-policy.ts';
import type { DisruptionLimit, DisruptionPolicy, LimitObjects } from '#shared/domain/disruption/disruption-limit.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import type { SharedContext } from '#shared/kube/reflector/shared-streams.ts';
import { DISRUPTION_LIMITS, DISRUPTION_POLICIES, DISRUPTION_ACCOUNTS } from '#shared/kube/resource.ts';
import { decodeAccount } from '#shared/api/disruption-account.ts';
import type { Account } from '#shared/domain/disruption/account.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { limitsIn } from '#shared/domain/rescheduling/limit-room.ts';
import type { LimitsOf } from '#shared/domain/rescheduling/restraint.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';

/** The limits of the cluster, kept current by watches. */
export interface KnownLimits {
  readonly limits: Reflector<DisruptionLimit>;
  readonly policies: Reflector<DisruptionPolicy>;
}

/** Nothing is read before the streams run. */
export function createKnownLimits(options: SharedContext): KnownLimits {
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

/**
 * DisruptionLimits, the default limits of the DisruptionPolicy and their counts. If they are not served or not read
 * yet, a pass applies no limits.
 */
export interface PodLimits {
  readonly limitsIn: (snapshot: ClusterSnapshot, now: Instant) => LimitsOf;
}

const readDebits = decodeWith(decodeAccount);

/** Nothing is read before the streams run. */
export function watchPodLimits(options: SharedContext): PodLimits {
  const known = createKnownLimits(options);
  const shared = { ...options, backoff: REFLECTOR_BACKOFF };
  const accounts = createReflector({ ...shared, resource: DISRUPTION_ACCOUNTS, slim: readAccount });
  return {
    limitsIn: (snapshot, now) => limitsIn(snapshot, { ...limitObjects(known), accounts: accounts.values() }, now),
  };
}

function readAccount(raw: KubeObject): { readonly namespace: string; readonly account: Account } {
  return { namespace: raw.metadata.namespace ?? '', account: readDebits(raw) };
}

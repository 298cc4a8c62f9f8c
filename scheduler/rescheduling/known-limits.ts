import { decodeAccount } from '#shared/api/disruption-account.ts';
import { decodeDisruptionLimit } from '#shared/api/disruption-limit.ts';
import type { Account } from '#shared/domain/disruption/account.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type LimitSources, rateLimitOf } from '#shared/domain/rescheduling/limit-room.ts';
import type { RateLimit } from '#shared/domain/rescheduling/restraint.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podsIn } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { DISRUPTION_ACCOUNTS, DISRUPTION_LIMITS } from '#shared/kube/resource.ts';

/** DisruptionLimits and what is counted of them. Where they are not served or not read yet, a pass knows none. */
export interface KnownLimits {
  readonly run: (signal: AbortSignal) => Promise<unknown>;
  readonly limitsIn: (snapshot: ClusterSnapshot, now: Instant) => readonly RateLimit[];
}

const readLimit = decodeWith(decodeDisruptionLimit);
const readDebits = decodeWith(decodeAccount);

/** Nothing is read before they run. */
export function createKnownLimits(options: ClientContext): KnownLimits {
  const shared = { ...options, backoff: REFLECTOR_BACKOFF };
  const limits = createReflector({ ...shared, resource: DISRUPTION_LIMITS, slim: readLimit });
  const accounts = createReflector({ ...shared, resource: DISRUPTION_ACCOUNTS, slim: readAccount });
  return {
    run: (signal) => Promise.all([limits.run(signal), accounts.run(signal)]),
    limitsIn: (snapshot, now) => {
      const byNamespace = new Map([...accounts.values()].map(({ namespace, account }) => [namespace, account]));
      const sourcesOf = (namespace: string): LimitSources => {
        const pods = Array.from(podsIn(snapshot, namespace), ({ pod }) => pod);
        return { pods, account: byNamespace.get(namespace) ?? [], now };
      };
      return [...limits.values()].map((limit) => rateLimitOf(limit, () => sourcesOf(limit.namespace)));
    },
  };
}

function readAccount(raw: KubeObject): { readonly namespace: string; readonly account: Account } {
  return { namespace: raw.metadata.namespace ?? '', account: readDebits(raw) };
}

import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { ListWatchOptions } from '#shared/kube/reflector/list-watch.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { createReflector } from '#shared/kube/reflector/reflector.ts';
import { LEASES } from '#shared/kube/resource.ts';

/** Where the replicas of kube-scheduler elect their leader. */
const LEASE = { namespace: 'kube-system', name: 'kube-scheduler' } as const;

/**
 * Calls back with the identity of each other kube-scheduler that takes over, until `signal` aborts. A new
 * kube-scheduler does not know the nominations of pods that have not changed since it started. Never rejects; never
 * calls back if the Lease cannot be read.
 */
export async function followKubeScheduler(
  options: Omit<ListWatchOptions, 'resource'>,
  onTakeover: (holder: string) => void,
  signal: AbortSignal,
): Promise<void> {
  let known: string | undefined;
  const leases = createReflector({
    ...options,
    resource: LEASES,
    namespace: LEASE.namespace,
    fieldSelector: `metadata.name=${LEASE.name}`,
    slim: (raw) => fieldOf(raw['spec'], 'holderIdentity'),
    backoff: REFLECTOR_BACKOFF,
  });
  leases.onChange(() => {
    const holder = leases.get(`${LEASE.namespace}/${LEASE.name}`);
    // A scheduler that stops releases the Lease before the next one takes it.
    if (typeof holder !== 'string' || holder === '' || holder === known) return;
    const isTakeover = known !== undefined;
    known = holder;
    if (isTakeover) onTakeover(holder);
  });
  await leases.run(signal);
}

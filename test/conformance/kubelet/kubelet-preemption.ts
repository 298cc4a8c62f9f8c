import type { Pod } from '#shared/domain/pod/pod.ts';
import { type QosClass, reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { quantityMilliNumber, quantityNumber, ZERO } from '#shared/domain/quantity/quantity.ts';
import { kubeletRequests } from '#shared/domain/ranking/pod-usage.ts';
import { isCriticalPod } from '#shared/domain/eviction/protection.ts';

/** What must come free: cpu in milli, everything else in units; `pods` counts one per pod. */
export interface Requirement {
  readonly resource: string;
  readonly quantity: number;
}

export type KubeletPreemption =
  | { readonly kind: 'found'; readonly victims: readonly Pod[] }
  /** In the kubelet's words. */
  | { readonly kind: 'impossible'; readonly message: string };

/** A pod and what it would give, by resource. */
interface Giver {
  readonly pod: Pod;
  readonly gives: (resource: string) => number;
}

/**
 * Which running pods the kubelet stops so that a critical pod fits: of the Guaranteed only what all others cannot
 * give, of the Burstable what the BestEffort cannot, then BestEffort (`getPodsToPreempt` in
 * `pkg/kubelet/preemption/preemption.go`). Independent of the eviction manager; budgets are ignored.
 */
export function kubeletPreemption(
  preemptor: Pod,
  running: readonly Pod[],
  requirements: readonly Requirement[],
): KubeletPreemption {
  const givers = running.filter((pod) => mayPreempt(preemptor, pod)).map(createGiver);
  const ofClass = (qos: QosClass) => givers.filter(({ pod }) => reportedQosClass(pod) === qos);
  const bestEffort = ofClass('BestEffort');
  const burstable = ofClass('Burstable');
  const guaranteed = ofClass('Guaranteed');
  const missing = remaining(requirements, [...bestEffort, ...burstable, ...guaranteed]);
  if (missing.length > 0) return { kind: 'impossible', message: describeMissing(missing) };
  const guaranteedVictims = nearest(guaranteed, remaining(requirements, [...bestEffort, ...burstable]));
  const burstableVictims = nearest(burstable, remaining(requirements, [...bestEffort, ...guaranteedVictims]));
  const bestEffortVictims = nearest(bestEffort, remaining(requirements, [...burstableVictims, ...guaranteedVictims]));
  const victims = [...bestEffortVictims, ...burstableVictims, ...guaranteedVictims];
  return { kind: 'found', victims: victims.map(({ pod }) => pod) };
}

/** A critical pod may stop any that is not; otherwise both need a stored priority and its own must be higher (`Preemptable`). */
export function mayPreempt(preemptor: Pod, victim: Pod): boolean {
  if (isCriticalPod(preemptor) && !isCriticalPod(victim)) return true;
  const own = preemptor.spec.priority;
  const theirs = victim.spec.priority;
  return own !== undefined && theirs !== undefined && own > theirs;
}

function createGiver(pod: Pod): Giver {
  const requests = kubeletRequests(pod);
  const gives = (resource: string) => {
    if (resource === 'pods') return 1;
    const request = requests.get(resource) ?? ZERO;
    return resource === 'cpu' ? quantityMilliNumber(request) : quantityNumber(request);
  };
  return { pod, gives };
}

/** What is still missing once these have given. */
function remaining(requirements: readonly Requirement[], givers: readonly Giver[]): readonly Requirement[] {
  return requirements
    .map(({ resource, quantity }) => ({
      resource,
      quantity: givers.reduce((left, giver) => (left > 0 ? left - giver.gives(resource) : left), quantity),
    }))
    .filter(({ quantity }) => quantity > 0);
}

/** Takes the nearest giver again and again; its place is taken by the last, as in `getPodsToPreemptByDistance`. */
function nearest(givers: readonly Giver[], requirements: readonly Requirement[]): readonly Giver[] {
  const left = givers.slice();
  const taken: Giver[] = [];
  let missing = requirements;
  while (missing.length > 0 && left.length > 0) {
    const found = left.splice(indexOfNearest(left, missing), 1, ...left.slice(-1));
    left.pop();
    taken.push(...found);
    missing = remaining(missing, found);
  }
  return taken;
}

function indexOfNearest(givers: readonly Giver[], missing: readonly Requirement[]): number {
  let best = 0;
  let bestDistance = Infinity;
  givers.forEach((giver, index) => {
    const distance = distanceTo(missing, giver);
    const isTie = distance === bestDistance;
    if (distance < bestDistance || (isTie && isNoLarger(giver, givers[best] ?? giver))) {
      best = index;
      bestDistance = distance;
    }
  });
  return best;
}

/** The sum of squares of the part of each requirement that the giver leaves open. */
function distanceTo(missing: readonly Requirement[], giver: Giver): number {
  let distance = 0;
  for (const { resource, quantity } of missing) {
    const open = quantity - giver.gives(resource);
    const share = Math.max(open, 0) / quantity;
    distance += share * share;
  }
  return distance;
}

/** Smaller in memory, else in cpu; of two equal ones the later counts as smaller (`smallerResourceRequest`). */
function isNoLarger(giver: Giver, than: Giver): boolean {
  const byMemory = giver.gives('memory') - than.gives('memory');
  return byMemory === 0 ? giver.gives('cpu') <= than.gives('cpu') : byMemory < 0;
}

function describeMissing(missing: readonly Requirement[]): string {
  const list = missing.map(({ resource, quantity }) => `(res: ${resource}, q: ${quantity}), `);
  return `no set of running pods found to reclaim resources: [${list.join('')}]`;
}

import {
  type Amounts,
  equalAmounts,
  addQuantities,
  quantitySign,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import type { Pod, Resources } from './pod.ts';

export type QosClass = 'Guaranteed' | 'Burstable' | 'BestEffort';

const COMPUTE: readonly string[] = ['cpu', 'memory'];

/**
 * The QoS class that follows from the spec. `spec.resources`, also an empty one, hides the containers (oddity S1).
 * `pkg/apis/core/v1/helper/qos/qos.go` ComputePodQOS.
 */
export function qosClass(pod: Pod): QosClass {
  const { resources, containers, initContainers } = pod.spec;
  const parts =
    resources === undefined ? [...containers, ...initContainers].map((each) => each.resources) : [resources];
  const requests = statedSum(parts.map((part) => part.requests));
  const limits = statedSum(parts.map((part) => part.limits));
  if (requests.size === 0 && limits.size === 0) return 'BestEffort';
  return parts.every(limitsAllCompute) && equalAmounts(requests, limits) ? 'Guaranteed' : 'Burstable';
}

/**
 * The class that quota scopes, eviction and preemption go by: `status.qosClass` if set, regardless of its value (oddity
 * S3), else the computed one. `pkg/apis/core/v1/helper/qos/qos.go` GetPodQOS.
 */
export function reportedQosClass(pod: Pod): string {
  return pod.status.qosClass ?? qosClass(pod);
}

/** The sum of cpu and memory over the parts; an amount of zero or less counts as not set. */
function statedSum(parts: readonly (Amounts | undefined)[]): Amounts {
  const sum = new Map<string, Quantity>();
  for (const part of parts) {
    for (const name of COMPUTE) {
      const amount = stated(part, name);
      const present = sum.get(name);
      if (amount !== undefined) sum.set(name, present === undefined ? amount : addQuantities(present, amount));
    }
  }
  return sum;
}

function stated(amounts: Amounts | undefined, name: string): Quantity | undefined {
  const amount = amounts?.get(name);
  return amount !== undefined && quantitySign(amount) > 0 ? amount : undefined;
}

function limitsAllCompute({ limits }: Resources): boolean {
  return COMPUTE.every((name) => stated(limits, name) !== undefined);
}

import type { Amounts } from './amounts.ts';
import { addAmounts, equalAmounts, filterAmounts, NO_AMOUNTS } from './amounts.ts';
import type { Pod, Resources } from './pod.ts';
import { quantitySign } from './quantity.ts';

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
 * The class that quota scopes, eviction and preemption go by: `status.qosClass` if set, whatever it says (oddity S3),
 * else the computed one. `pkg/apis/core/v1/helper/qos/qos.go` GetPodQOS.
 */
export function reportedQosClass(pod: Pod): string {
  return pod.status.qosClass ?? qosClass(pod);
}

/** cpu and memory added up over the parts; an amount of zero or less counts as not stated. */
function statedSum(parts: readonly (Amounts | undefined)[]): Amounts {
  return parts.reduce<Amounts>((sum, part) => addAmounts(sum, stated(part)), NO_AMOUNTS);
}

function stated(amounts: Amounts | undefined): Amounts {
  if (amounts === undefined) return NO_AMOUNTS;
  return filterAmounts(amounts, (name, amount) => COMPUTE.includes(name) && quantitySign(amount) > 0);
}

function limitsAllCompute(resources: Resources): boolean {
  return stated(resources.limits).size === COMPUTE.length;
}

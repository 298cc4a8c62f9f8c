import type { Pod } from '#shared/domain/model/pod.ts';
import type { ClusterState } from './cluster-state.ts';
import { violationsOfPod } from './decide-validation.ts';
import { refuse, type Refused } from './decision.ts';
import type { PodRequest } from './pod-request.ts';
import { breaksAnyResourceQuota } from './rules/resource-quota-rule.ts';

/** A new pod, or a pod that is resized. */
export interface ChargeRequest {
  readonly request: PodRequest;
  /** The stored pod, in a resize alone. */
  readonly before: Pod | undefined;
}

/**
 * Why a pod will be refused by something else, so that a PriorityQuota need not be charged for it: by the rules of the
 * validating entry, which is asked at the same time, or by the ResourceQuota plugin, which comes after. What is charged
 * and then refused holds room for minutes; whoever may not use a class must not be able to fill its quota. Webhooks of
 * others, and a name that is taken, cannot be known.
 */
export function refusalBeforeCharge({ request, before }: ChargeRequest, cluster: ClusterState): Refused | undefined {
  const rules = before === undefined ? violationsOfPod(request, cluster) : [];
  const denied = rules.find(({ response }) => response === 'Deny')?.because;
  const because = denied ?? breaksAnyResourceQuota(request.pod, before, cluster);
  return because === undefined ? undefined : refuse(403, because);
}

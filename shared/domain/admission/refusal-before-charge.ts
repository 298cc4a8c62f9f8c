import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ClusterState } from './cluster-state.ts';
import { violationsOfPod } from './decide-validation.ts';
import { refuse, type Refused } from './decision.ts';
import type { PodRequest } from './pod-request.ts';
import { breaksAnyResourceQuota } from './rules/resource-quota-rule.ts';

/** A new pod or a resized pod. */
export interface ChargeRequest {
  readonly request: PodRequest;
  /** The stored pod, for a resize only. */
  readonly before: Pod | undefined;
}

/**
 * Why something else will refuse a pod, so that a PriorityQuota need not be charged for it: the validating entry, which
 * runs at the same time, or the ResourceQuota plugin, which runs later. A pod that is charged and then refused holds
 * room for minutes, and a tenant that may not use a class must not be able to fill its quota. Refusals by other
 * webhooks or because of a name conflict cannot be predicted.
 */
export function refusalBeforeCharge({ request, before }: ChargeRequest, cluster: ClusterState): Refused | undefined {
  const rules = before === undefined ? violationsOfPod(request, cluster) : [];
  const denied = rules.find(({ response }) => response === 'Deny')?.because;
  const because = denied ?? breaksAnyResourceQuota(request.pod, before, cluster);
  return because === undefined ? undefined : refuse(403, because);
}

import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { breaksClassRule } from './class-rule.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { breaksPreemptionRule } from './preemption-rule.ts';
import { breaksQuotaRequiredRule } from './quota-required-rule.ts';
import type { Violation } from '#shared/domain/admission/violation.ts';

/** A violation and the policy that it breaks. */
export interface PolicyViolation extends Violation {
  readonly policy: PriorityPolicy;
}

/** Every policy rule that the pod breaks: it must satisfy all policies that apply, so the most restrictive wins. */
export function violationsOf(
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  cluster: ClusterState,
): readonly PolicyViolation[] {
  return policies.flatMap((policy) => {
    const broken = [
      breaksClassRule(request, policy),
      breaksPreemptionRule(request, policy),
      breaksQuotaRequiredRule(request, policy, cluster),
    ];
    return broken.flatMap((because) =>
      because === undefined ? [] : [{ because, response: policy.onViolation, policy }],
    );
  });
}

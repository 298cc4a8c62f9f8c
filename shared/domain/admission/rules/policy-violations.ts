import type { Because } from '#shared/domain/model/because.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { breaksClassRule } from './class-rule.ts';
import type { PodRequest } from '#shared/domain/admission/pod-request.ts';
import { breaksDefaultRule } from './default-rule.ts';
import { breaksPreemptionRule } from './preemption-rule.ts';
import { breaksQuotaRequiredRule } from './quota-required-rule.ts';
import type { Violation } from '#shared/domain/admission/violation.ts';

/** A violation and the policy that it breaks. */
export interface PolicyViolation extends Violation {
  readonly policy: PriorityPolicy;
}

type PolicyRule = (request: PodRequest, policy: PriorityPolicy, cluster: ClusterState) => Because | undefined;

/** What holds for pods and for templates, in the order of the API server's own rules (rule-expressions.ts). */
const RULES: readonly PolicyRule[] = [breaksClassRule, breaksPreemptionRule, breaksQuotaRequiredRule];
/** A template may leave the class to whoever creates its pods. */
export const POD_RULES: readonly PolicyRule[] = [breaksDefaultRule, ...RULES];

/** Every policy rule that the pod breaks: it must satisfy all policies that apply, so the most restrictive wins. */
export function violationsOf(
  request: PodRequest,
  policies: readonly PriorityPolicy[],
  cluster: ClusterState,
  rules: readonly PolicyRule[] = RULES,
): readonly PolicyViolation[] {
  return policies.flatMap((policy) =>
    rules.flatMap((breaks) => {
      const because = breaks(request, policy, cluster);
      return because === undefined ? [] : [{ because, response: policy.onViolation, policy }];
    }),
  );
}

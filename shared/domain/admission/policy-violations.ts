import type { AdmissionWorld } from './admission-world.ts';
import { breaksClassRule } from './class-rule.ts';
import { policiesFor } from './policies-for.ts';
import type { PodRequest } from './pod-request.ts';
import { breaksPreemptionRule } from './preemption-rule.ts';
import { breaksQuotaRequiredRule } from './quota-required-rule.ts';
import type { Violation } from './violation.ts';

/** Every rule of every policy that the pod breaks: a pod must please all policies that select it, so the most restrictive wins. */
export function policyViolations(request: PodRequest, world: AdmissionWorld): readonly Violation[] {
  return policiesFor(request, world).flatMap((policy) => {
    const broken = [
      breaksClassRule(request, policy),
      breaksPreemptionRule(request, policy),
      breaksQuotaRequiredRule(request, policy, world),
    ];
    return broken.flatMap((because) => (because === undefined ? [] : [{ because, response: policy.onViolation }]));
  });
}

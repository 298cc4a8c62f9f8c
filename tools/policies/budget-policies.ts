import type { KubeObject } from '#shared/kube/kube-object.ts';
import { API_VERSION, BUDGET_POLICY, DISRUPTION_POLICY } from '#shared/kube/api-names.ts';
import { condition } from '#shared/kube/admission/cel-expressions.ts';
import { judgedNamespaces } from '#shared/kube/admission/judged-namespaces.ts';
import { rule } from '#shared/kube/admission/webhook-configurations.ts';
import { boundPolicy, type Validating } from './validating-policy.ts';

/**
 * As `forbidsEverything` of `shared/domain/disruption/disruption-limit.ts`, for any number of pods; what depends on the
 * pods, the webhook decides (`webhook/handlers/budget-handler.ts`).
 */
const FORBIDS =
  "string(object.spec.?maxUnavailable.orValue('')).matches('^0+%?$') || " +
  "string(object.spec.?minAvailable.orValue('')).matches('^0*[1-9](?:[0-9][0-9]+%|[0-9]{5,})$')";
const MESSAGE =
  'this budget forbids every eviction of its pods; allow at least one with maxUnavailable 1, or minAvailable below 100%';

/**
 * The ValidatingAdmissionPolicies with which the API server itself refuses budgets that forbid every eviction, or warns
 * about them, as the DisruptionPolicy says. Without a DisruptionPolicy, nothing happens.
 */
export function budgetPolicies(): readonly KubeObject[] {
  return [...policyFor(BUDGET_POLICY, 'Deny'), ...policyFor(`warnings.${BUDGET_POLICY}`, 'Warn')];
}

function policyFor(name: string, response: 'Deny' | 'Warn'): readonly KubeObject[] {
  const isWanted = `params.spec.?forbiddingBudgets.orValue('Show') == '${response}'`;
  const policy: Validating = {
    name,
    component: 'webhook',
    failurePolicy: 'Ignore',
    params: { paramKind: { apiVersion: API_VERSION, kind: 'DisruptionPolicy' }, name: DISRUPTION_POLICY },
    namespaceSelector: judgedNamespaces(),
    resourceRules: [rule('policy', ['poddisruptionbudgets'], ['CREATE', 'UPDATE'])],
    matchConditions: [condition('spec-changed', "request.operation != 'UPDATE' || object.spec != oldObject.spec")],
    validations: [{ expression: `!(${isWanted} && (${FORBIDS}))`, message: MESSAGE }],
  };
  return boundPolicy(policy, response);
}

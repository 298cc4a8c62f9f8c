import type { KubeObject } from '#shared/kube/kube-object.ts';
import { API_VERSION, BUDGET_POLICY, DISRUPTION_POLICY } from '#shared/kube/api-names.ts';
import { POLICY_LABELS } from './admission-policies.ts';
import { condition } from './cel-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';

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
 * about them, as the DisruptionPolicy says. Without a DisruptionPolicy, nothing happens (S3-17).
 */
export function budgetPolicies(): readonly KubeObject[] {
  return [...policyFor(BUDGET_POLICY, 'Deny'), ...policyFor(`warnings.${BUDGET_POLICY}`, 'Warn')];
}

function policyFor(name: string, response: 'Deny' | 'Warn'): readonly KubeObject[] {
  const metadata = { name, labels: POLICY_LABELS };
  const isWanted = `params.spec.?forbiddingBudgets.orValue('Show') == '${response}'`;
  const policy = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata,
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: API_VERSION, kind: 'DisruptionPolicy' },
      matchConstraints: {
        namespaceSelector: judgedNamespaces(),
        objectSelector: {},
        resourceRules: [
          {
            apiGroups: ['policy'],
            apiVersions: ['v1'],
            resources: ['poddisruptionbudgets'],
            operations: ['CREATE', 'UPDATE'],
            scope: 'Namespaced',
          },
        ],
        matchPolicy: 'Equivalent',
      },
      matchConditions: [condition('spec-changed', "request.operation != 'UPDATE' || object.spec != oldObject.spec")],
      validations: [{ expression: `!(${isWanted} && (${FORBIDS}))`, message: MESSAGE, reason: 'Forbidden' }],
    },
  };
  const paramRef = { name: DISRUPTION_POLICY, parameterNotFoundAction: 'Allow' };
  const spec = { policyName: name, validationActions: [response], paramRef };
  return [policy, { ...policy, kind: 'ValidatingAdmissionPolicyBinding', spec }];
}

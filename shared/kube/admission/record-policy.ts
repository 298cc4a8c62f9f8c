import type { KubeObject } from '#shared/kube/kube-object.ts';
import { ANNOTATION_CLASS_RULE, RECORD_POLICY } from '#shared/kube/api-names.ts';
import { POLICY_LABELS } from './admission-policies.ts';
import { condition } from './cel-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import { UPDATED_PODS } from './webhook-configurations.ts';

const RECORD = recordOf('object');
const MESSAGE = `the annotation ${ANNOTATION_CLASS_RULE} must not be changed: it names the rule that gave the pod its priority class when the pod was created`;

function recordOf(object: string): string {
  return `${object}.metadata.?annotations['${ANNOTATION_CLASS_RULE}'].orValue('')`;
}

/**
 * The ValidatingAdmissionPolicy that keeps the recorded rule of a pod unchanged after creation, and its binding. The
 * record may be removed: a manifest that replaces the whole pod does not have it. `Ignore`: no decision depends on it.
 */
export function recordPolicy(): readonly KubeObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: RECORD_POLICY, labels: POLICY_LABELS };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Ignore',
        matchConstraints: {
          namespaceSelector: judgedNamespaces(),
          objectSelector: {},
          resourceRules: [UPDATED_PODS],
          matchPolicy: 'Equivalent',
        },
        matchConditions: [condition('record-changed', `${RECORD} != ${recordOf('oldObject')}`)],
        validations: [{ expression: `${RECORD} == ''`, message: MESSAGE, reason: 'Forbidden' }],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: RECORD_POLICY, validationActions: ['Deny'] },
    },
  ];
}

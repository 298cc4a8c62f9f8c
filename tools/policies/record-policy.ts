import { ANNOTATION_CLASS_RULE, RECORD_POLICY } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { condition } from '#shared/kube/admission/cel-expressions.ts';
import { judgedNamespaces } from '#shared/kube/admission/judged-namespaces.ts';
import { UPDATED_POD_PARTS, UPDATED_PODS } from '#shared/kube/admission/webhook-configurations.ts';
import { boundPolicy } from './validating-policy.ts';

const RECORD = recordOf('object');

function recordOf(object: string): string {
  return `${object}.metadata.?annotations['${ANNOTATION_CLASS_RULE}'].orValue('')`;
}

/**
 * The ValidatingAdmissionPolicy that keeps the recorded rule of a pod unchanged after creation, and its binding. The
 * record may be removed: a manifest that replaces the whole pod does not have it. `Ignore`: no decision depends on it.
 */
export function recordPolicy(): readonly KubeObject[] {
  return boundPolicy({
    name: RECORD_POLICY,
    component: 'webhook',
    failurePolicy: 'Ignore',
    namespaceSelector: judgedNamespaces(),
    resourceRules: [UPDATED_PODS, UPDATED_POD_PARTS],
    matchConditions: [condition('record-changed', `${RECORD} != ${recordOf('oldObject')}`)],
    validations: [
      {
        expression: `${RECORD} == ''`,
        message: `the annotation ${ANNOTATION_CLASS_RULE} must not be changed: it names the rule that gave the pod its priority class when the pod was created`,
      },
    ],
  });
}

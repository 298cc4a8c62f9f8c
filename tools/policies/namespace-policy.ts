/*
 * Two labels take a namespace out of Plimsoll's rules. Who may change namespaces, such as the owner of a self-service
 * portal, may not therefore do so: that needs the verb `opt-out` on `namespaces.plimsoll.dev`, a resource that exists for
 * this question only. What brings a namespace in is free.
 */
import { celVariable } from '#shared/kube/admission/cel-expressions.ts';
import { QUOTA_LABEL } from '#shared/kube/admission/judged-namespaces.ts';
import { rule } from '#shared/kube/admission/webhook-configurations.ts';
import { API_GROUP, LABEL_IGNORE } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { celIsOn, MANAGED_LABEL, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { boundPolicy } from './validating-policy.ts';

const OPT_OUT = 'opt-out';
const NEEDED = `needs the verb ${OPT_OUT} on namespaces.${API_GROUP}`;
/** The subresources take labels too. */
const NAMESPACES = ['namespaces', 'namespaces/status', 'namespaces/finalize'];

function isIgnored(labels: string): string {
  return `variables.${labels}[?'${LABEL_IGNORE}'].orValue('') == 'true'`;
}

function hasQuotas(labels: string): string {
  return `(${celIsOn(NAMESPACE_SWITCHES.quotas, `variables.${labels}`)})`;
}

/** The policy over labels of namespaces, and the ClusterRole with the right; it is not aggregated to any other. */
export function namespacePolicy(): readonly KubeObject[] {
  return [
    ...boundPolicy({
      name: 'plimsoll-namespace-labels',
      failurePolicy: 'Fail',
      resourceRules: [{ ...rule('', NAMESPACES, ['CREATE', 'UPDATE']), scope: '*' }],
      matchConditions: [],
      variables: [
        celVariable('labels', 'object.metadata.?labels.orValue({})'),
        celVariable('before', "request.operation == 'UPDATE' ? oldObject.metadata.?labels.orValue({}) : {}"),
        celVariable('isIgnored', `${isIgnored('labels')} && !(${isIgnored('before')})`),
        celVariable('hasLeftQuotas', `${hasQuotas('before')} && !${hasQuotas('labels')}`),
        celVariable(
          'mayOptOut',
          `authorizer.group('${API_GROUP}').resource('namespaces').name(object.metadata.name).check('${OPT_OUT}').allowed()`,
        ),
      ],
      validations: [
        {
          expression: '!variables.isIgnored || variables.mayOptOut',
          message: `setting the label ${LABEL_IGNORE} to true ${NEEDED}`,
        },
        {
          expression: '!variables.hasLeftQuotas || variables.mayOptOut',
          message: `taking the label ${QUOTA_LABEL} or the label ${MANAGED_LABEL} away ${NEEDED}`,
        },
      ],
    }),
    {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'ClusterRole',
      metadata: { name: 'plimsoll-namespace-opt-out' },
      rules: [{ apiGroups: [API_GROUP], resources: ['namespaces'], verbs: [OPT_OUT] }],
    },
  ];
}

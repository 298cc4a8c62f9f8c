import type { KubeObject } from '#shared/kube/kube-object.ts';
import { SPARE_RESIZE_POLICY } from '#shared/kube/api-names.ts';
import { SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import { POLICY_LABELS } from './admission-policies.ts';
import { celList, condition, NUMBERS } from './cel-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import { SPARE_VARIABLES } from './spare-expressions.ts';
import { RESIZED_PODS } from './webhook-configurations.ts';

const CONTAINERS = 'oldObject.spec.containers + oldObject.spec.?initContainers.orValue([])';
const IN_SPARE_ROOM = `(${CONTAINERS}).exists(part, ${celList(Object.values(SPARE_RESOURCES))}.exists(name, name in part.?resources.?requests.orValue({})))`;

/**
 * A pod in spare room keeps to it: a resize that adds requests would hold room of the node beside what is lent, without
 * the decision that a new pod needs. `Fail`: only resizes of such pods get here.
 */
export function spareResizePolicy(): readonly KubeObject[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const metadata = { name: SPARE_RESIZE_POLICY, labels: POLICY_LABELS };
  return [
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: {
          namespaceSelector: judgedNamespaces(),
          objectSelector: {},
          resourceRules: [RESIZED_PODS],
          matchPolicy: 'Equivalent',
        },
        matchConditions: [condition('in-spare-room', IN_SPARE_ROOM)],
        variables: [NUMBERS, ...SPARE_VARIABLES],
        validations: [
          {
            expression: '!variables.requestsNodeRoom',
            message:
              'a pod that requests plimsoll.dev/spare-cpu or plimsoll.dev/spare-memory must request no cpu and no memory; only its limits can be resized',
            reason: 'Forbidden',
          },
        ],
      },
    },
    {
      apiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata,
      spec: { policyName: SPARE_RESIZE_POLICY, validationActions: ['Deny'] },
    },
  ];
}

import type { KubeObject } from '#shared/kube/kube-object.ts';
import { SPARE_RESIZE_POLICY } from '#shared/kube/api-names.ts';
import { SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import { denyingPolicy } from './account-policies.ts';
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
  return denyingPolicy({
    name: SPARE_RESIZE_POLICY,
    component: 'webhook',
    failurePolicy: 'Fail',
    namespaceSelector: judgedNamespaces(),
    resourceRules: [RESIZED_PODS],
    matchConditions: [condition('in-spare-room', IN_SPARE_ROOM)],
    variables: [NUMBERS, ...SPARE_VARIABLES],
    validations: [
      {
        expression: '!variables.requestsNodeRoom',
        message:
          'a pod that requests plimsoll.dev/spare-cpu or plimsoll.dev/spare-memory must request no cpu and no memory; only its limits can be resized',
      },
    ],
  });
}

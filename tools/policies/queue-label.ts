import { API_VERSION, LABEL_QUEUE, QUEUE_SELECTORS_NAME } from '#shared/kube/api-names.ts';
import { celVariable, type CelVariable, condition } from '#shared/kube/admission/cel-expressions.ts';

const LABEL_OF_POD = labelOf('object.metadata');

function labelOf(metadata: string): string {
  return `${metadata}.?labels['${LABEL_QUEUE}'].orValue('')`;
}

const VARIABLES: readonly CelVariable[] = [
  celVariable('queue', LABEL_OF_POD),
  celVariable('labels', 'namespaceObject.metadata.?labels.orValue({})'),
  // Lists: an optional value in a variable has no fields for kube-apiserver 1.36.3, and would admit every namespace.
  celVariable('known', 'variables.queue in params.spec.queues ? [params.spec.queues[variables.queue]] : []'),
  celVariable(
    'selectors',
    'variables.known.filter(each, has(each.namespaceSelector)).map(each, each.namespaceSelector)',
  ),
  celVariable(
    'isAdmitted',
    'variables.selectors.exists(selector,',
    '  selector.?matchLabels.orValue({}).all(key, key in variables.labels && variables.labels[key] == selector.matchLabels[key]) &&',
    '  selector.?matchExpressions.orValue([]).all(each,',
    "    each.operator == 'Exists' ? each.key in variables.labels :",
    "    each.operator == 'DoesNotExist' ? !(each.key in variables.labels) :",
    "    each.operator == 'In' ? each.key in variables.labels && variables.labels[each.key] in each.?values.orValue([]) :",
    "    each.operator == 'NotIn' && !(each.key in variables.labels && variables.labels[each.key] in each.?values.orValue([]))))",
  ),
];

/**
 * Whether a pod may name a queue: one that admits its namespace, or the one that its namespace names. With the Queues as
 * parameters the API server would judge each write of a pod once for each of them, and turn the pod into maps each time
 * (docs/contributing/decisions/queue-gate.md).
 */
export const QUEUE_LABEL = {
  matchConditions: [
    condition('names-a-queue', `${LABEL_OF_POD} != ''`),
    condition('label-changed', `request.operation != 'UPDATE' || ${LABEL_OF_POD} != ${labelOf('oldObject.metadata')}`),
  ],
  variables: VARIABLES,
  validations: [
    {
      expression: `size(variables.known) == 0 || ${labelOf('namespaceObject.metadata')} == variables.queue || variables.isAdmitted`,
      messageExpression: `'queue ' + variables.queue + ' does not admit namespace ' + request.namespace + ': its namespaceSelector does not select it; change the label ${LABEL_QUEUE}'`,
      message: `the queue that the label ${LABEL_QUEUE} names does not admit this namespace`,
    },
  ],
  /** Most pods get their queue from their namespace, and meet one policy less. */
  objectSelector: { matchExpressions: [{ key: LABEL_QUEUE, operator: 'Exists' }] },
  params: { paramKind: { apiVersion: API_VERSION, kind: 'QueueSelectors' }, name: QUEUE_SELECTORS_NAME },
};

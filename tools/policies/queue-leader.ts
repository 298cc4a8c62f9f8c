import { ANNOTATION_ADMITTED, CONDITION_WAITS_IN_QUEUE, QUEUE_GATE } from '#shared/kube/api-names.ts';
import { celIsOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';

import { celList, celVariable, type CelVariable } from '#shared/kube/admission/cel-expressions.ts';

const SUBRESOURCE = "request.?subResource.orValue('')";

/** A change of a pod or of its status, whose fields RBAC cannot tell apart. */
export const CHANGES_POD = `request.operation == 'UPDATE' && request.resource.resource == 'pods' && ${SUBRESOURCE} in ['', 'status']`;
/** What the API server itself changes in a write. */
const SERVER_FIELDS = ['managedFields', 'resourceVersion', 'generation'];

/** The object and the one before, as variables. */
export const LEADER_VARIABLES: readonly CelVariable[] = [
  celVariable('spec', 'dyn(object).spec'),
  celVariable('oldSpec', 'dyn(oldObject).spec'),
  celVariable('annotations', 'variables.metadata.?annotations.orValue({})'),
  celVariable('oldAnnotations', 'variables.before.?annotations.orValue({})'),
  celVariable('gates', 'variables.spec.?schedulingGates.orValue([])'),
  celVariable('oldGates', 'variables.oldSpec.?schedulingGates.orValue([])'),
  celVariable('status', 'dyn(object).?status.orValue({})'),
  celVariable('oldStatus', 'dyn(oldObject).?status.orValue({})'),
  celVariable('conditions', 'variables.status.?conditions.orValue([])'),
  celVariable('oldConditions', 'variables.oldStatus.?conditions.orValue([])'),
  celVariable('isWaiting', celIsOn(NAMESPACE_SWITCHES.queues)),
];

/** Whether two maps in variables differ only in some fields. */
function onlyIn(after: string, before: string, fields: readonly string[]): string {
  const [now, then] = [`variables.${after}`, `variables.${before}`];
  return `[${now}, ${then}].all(fields, fields.all(field, field in ${celList(fields)} || ${now}[?field] == ${then}[?field]))`;
}

const IS_OTHER = `each.type != '${CONDITION_WAITS_IN_QUEUE}'`;

/** The gate and the mark, and nothing else of a pod. */
const OF_POD = [
  {
    expression: onlyIn('metadata', 'before', [...SERVER_FIELDS, 'annotations']),
    message: 'the leader of the queues may not change the metadata of a pod',
  },
  {
    expression: onlyIn('annotations', 'oldAnnotations', [ANNOTATION_ADMITTED]),
    message: `the leader of the queues may write only the annotation ${ANNOTATION_ADMITTED}`,
  },
  {
    expression: onlyIn('spec', 'oldSpec', ['schedulingGates']),
    message: 'the leader of the queues may not change the spec of a pod',
  },
  {
    expression: `variables.oldGates.all(gate, gate.name == '${QUEUE_GATE}' || gate in variables.gates)`,
    message: `the leader of the queues may remove only the scheduling gate ${QUEUE_GATE}`,
  },
];

/** The node that is set aside for a pod while room is made there, and what a pod waits for. */
const OF_STATUS = [
  {
    expression: onlyIn('status', 'oldStatus', ['nominatedNodeName', 'conditions']),
    message: 'the leader of the queues may change only nominatedNodeName and its own condition in the status of a pod',
  },
  {
    expression: `variables.conditions.filter(each, ${IS_OTHER}) == variables.oldConditions.filter(each, ${IS_OTHER})`,
    message: `the leader of the queues may change only the condition ${CONDITION_WAITS_IN_QUEUE} of a pod`,
  },
  {
    expression: `variables.isWaiting || variables.conditions.all(each, ${IS_OTHER} || each in variables.oldConditions)`,
    message: 'the leader of the queues may say only of pods in managed namespaces what they wait for',
  },
  {
    expression: onlyIn('metadata', 'before', SERVER_FIELDS),
    message: 'the leader of the queues may not change the metadata of a pod by its status',
  },
  {
    expression:
      "variables.spec.?nodeName.orValue('') == '' || variables.status[?'nominatedNodeName'] == variables.oldStatus[?'nominatedNodeName']",
    message: 'the leader of the queues may set a node aside only for a pod that has none',
  },
  {
    expression: "variables.isWaiting || variables.status.?nominatedNodeName.orValue('') == ''",
    message: 'the leader of the queues may set a node aside only for pods that wait in queues',
  },
];

/**
 * What the leader of the queues may change in a pod, where `variables.isByLeader`: a backstop outside our own process,
 * since RBAC cannot limit a patch to a field.
 */
export const LEADER_VALIDATIONS = [
  ...OF_POD.map((each) => ({ ...each, expression: ofSubresource('', each.expression) })),
  ...OF_STATUS.map((each) => ({ ...each, expression: ofSubresource('status', each.expression) })),
];

function ofSubresource(name: string, expression: string): string {
  return `!variables.isByLeader || ${SUBRESOURCE} != '${name}' || (${expression})`;
}

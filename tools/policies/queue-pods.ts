/*
 * Everything that the API server judges of pods for queues, as one policy: for each policy that a write meets it turns
 * the pod into maps anew, for the match conditions alone and three times more if they are true. So the conditions are
 * true only for what may be refused (docs/contributing/decisions/queue-gate.md).
 */
import { ACCOUNTS, FORMER_QUEUES_USER } from '#shared/kube/accounts/accounts.ts';
import {
  ANNOTATION_ADMITTED,
  API_GROUP,
  CONTROLLER,
  EXEMPT_NAMESPACES,
  LABEL_IGNORE,
  LABEL_QUEUES,
  QUEUE_GATE,
  QUEUE_POLICY_NAMES,
  QUEUES_MANAGED,
  RELEASE_VERB,
} from '#shared/kube/api-names.ts';
import { celIsOn, MANAGED_LABEL, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import {
  celList,
  celVariable,
  type CelVariable,
  condition,
  NOT_A_NODE,
} from '#shared/kube/admission/cel-expressions.ts';
import { POD_GANGS } from './queue-gangs.ts';
import { CHANGES_POD, LEADER_VALIDATIONS, LEADER_VARIABLES } from './queue-leader.ts';
import { rule, UPDATED_POD_PARTS, WRITTEN_PODS } from '#shared/kube/admission/webhook-configurations.ts';

/** The users that lead the queues: the controller, and the account of earlier builds. */
export const QUEUE_LEADERS = celList([ACCOUNTS.controller.user, FORMER_QUEUES_USER]);
const IS_LEADER = `request.userInfo.?username.orValue('') in ${QUEUE_LEADERS}`;

const IS_CREATE = "request.operation == 'CREATE'";
const IS_UPDATE = "request.operation == 'UPDATE'";
const IS_POD = "request.resource.resource == 'pods' && request.?subResource.orValue('') == ''";

function isGated(pod: string): string {
  return `${pod}.spec.?schedulingGates.orValue([]).exists(gate, gate.name == '${QUEUE_GATE}')`;
}

function markOf(pod: string): string {
  return `${pod}.metadata.?annotations['${ANNOTATION_ADMITTED}'].orValue('')`;
}

/** A Binding with an empty mark takes that of its pod away. The mark of a mirror pod counts for nothing, and a node without its mirror pods would look emptier than it is. */
const IS_MARKED = [
  `(${IS_UPDATE} ? ${markOf('object')} != ${markOf('oldObject')} : '${ANNOTATION_ADMITTED}' in object.metadata.?annotations.orValue({}))`,
  `!(${IS_CREATE} && request.resource.resource == 'pods' && 'system:nodes' in request.userInfo.?groups.orValue([]))`,
].join(' && ');

const NAMES_NODE = "dyn(object).spec.?nodeName.orValue('') != ''";
const MISSES_GATE = `${NOT_A_NODE.expression} && (${IS_CREATE} ? ${NAMES_NODE} || !${isGated('dyn(object)')} : ${isGated('dyn(oldObject)')} && !${isGated('dyn(object)')})`;

/** Only bindings for managed namespaces have a parameter; conditions cannot read the labels of the namespace. */
const IN_QUEUES = `params != null && ${IS_POD} && (${MISSES_GATE} || ${POD_GANGS.isWritten})`;
const IS_BY_LEADER = `${IS_LEADER} && ${CHANGES_POD}`;

const VARIABLES: readonly CelVariable[] = [
  celVariable('isByLeader', IS_BY_LEADER),
  celVariable(
    'isQueued',
    `params != null && ${IS_POD} && !(request.namespace in ${celList(EXEMPT_NAMESPACES)}) && namespaceObject.metadata.?labels['${LABEL_IGNORE}'].orValue('') != 'true' && ${celIsOn(NAMESPACE_SWITCHES.queues)}`,
  ),
  celVariable('missesGate', `variables.isQueued && ${MISSES_GATE}`),
  ...POD_GANGS.variables,
  ...LEADER_VARIABLES,
];

function mayRelease(authorizer: string): string {
  return `${authorizer}.group('${API_GROUP}').resource('queues').check('${RELEASE_VERB}').allowed()`;
}

/**
 * While an uninstallation removes one object after the other, nothing may refuse a pod for a gate that nothing adds any
 * more: this right of the leader goes first.
 */
const IS_GATE_ADDED = mayRelease(
  `authorizer.serviceAccount('${ACCOUNTS.controller.namespace}', '${ACCOUNTS.controller.name}')`,
);

const VALIDATIONS = [
  {
    expression: `!(${IS_MARKED}) || ${IS_LEADER}`,
    message: `the annotation ${ANNOTATION_ADMITTED} must only be written by ${CONTROLLER}`,
  },
  {
    expression: `!variables.missesGate || !(${IS_CREATE} && ${NAMES_NODE}) || !${IS_GATE_ADDED}`,
    message: `spec.nodeName must not be set: pods of this namespace wait in a queue (namespace label ${LABEL_QUEUES}=${QUEUES_MANAGED} or ${MANAGED_LABEL})`,
  },
  {
    expression: `!variables.missesGate || !(${IS_CREATE}) || ${isGated('dyn(object)')} || !${IS_GATE_ADDED}`,
    message: `spec.schedulingGates must contain ${QUEUE_GATE}, and nothing has added it: check the MutatingAdmissionPolicy ${QUEUE_POLICY_NAMES.gate}`,
  },
  {
    expression: `!variables.missesGate || ${IS_CREATE} || ${IS_LEADER} || ${mayRelease('authorizer')} || !${IS_GATE_ADDED}`,
    message: `the scheduling gate ${QUEUE_GATE} must only be removed by ${CONTROLLER}, which lets the pod in when its queue has room`,
  },
  ...POD_GANGS.validations.map((each) => ({ ...each, expression: `!variables.isQueued || ${each.expression}` })),
  ...LEADER_VALIDATIONS,
];

/**
 * The mark is the leader's alone, in every namespace and by every way to write it (a Binding passes its annotations on):
 * what a tenant writes before its namespace is managed would count afterwards. `Fail`: what cannot be judged must not
 * pass a queue.
 */
export const QUEUED_PODS = {
  resourceRules: [WRITTEN_PODS, UPDATED_POD_PARTS, rule('', ['pods/binding', 'bindings'], ['CREATE'])],
  matchConditions: [condition('to-be-judged', `(${IS_MARKED}) || (${IS_BY_LEADER}) || (${IN_QUEUES})`)],
  variables: VARIABLES,
  validations: VALIDATIONS,
  failurePolicy: 'Fail',
} as const;

/*
 * How the API server itself makes pods wait in queues: it adds the scheduling gate to new pods and allows only the
 * queue leader to remove it (docs/contributing/decisions/queue-gate.md). Applies only in namespaces with the
 * label plimsoll.dev/queues=managed.
 */
import { ACCOUNTS, FORMER_QUEUES_USER } from '#shared/kube/accounts/accounts.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  ANNOTATION_ADMITTED,
  API_GROUP,
  CONTROLLER,
  LABEL_QUEUES,
  QUEUE_GATE,
  QUEUE_POLICY_NAMES,
  QUEUES_MANAGED,
  RELEASE_VERB,
} from '#shared/kube/api-names.ts';
import {
  celList,
  celVariable,
  condition,
  type CelVariable,
  type MatchCondition,
  NOT_A_NODE,
} from './cel-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import { JOB_GANGS, QUEUE_GANGS } from './queue-gangs.ts';
import { QUEUE_LABEL } from './queue-label.ts';
import { QUEUE_ROOT } from './queue-root.ts';
import { QUEUE_WARNINGS } from './queue-warnings.ts';
import { CREATED_PODS, rule, UPDATED_POD_PARTS, WRITTEN_PODS } from './webhook-configurations.ts';

const POLICY_VERSION = 'admissionregistration.k8s.io/v1';
const LABELS = {
  'app.kubernetes.io/name': 'plimsoll',
  'app.kubernetes.io/component': 'queues',
  'app.kubernetes.io/part-of': 'plimsoll',
};

const USER = "request.userInfo.?username.orValue('')";
/** The users that lead the queues: the controller, and the account of earlier builds. */
export const QUEUE_LEADERS = celList([ACCOUNTS.controller.user, FORMER_QUEUES_USER]);
const IS_LEADER = `${USER} in ${QUEUE_LEADERS}`;
const IS_GATED = `object.spec.?schedulingGates.orValue([]).exists(gate, gate.name == '${QUEUE_GATE}')`;
/** Kubernetes rejects a gate on a pod that names its node; the guard says what to change. */
const NEEDS_GATE = condition('needs-the-gate', `!${IS_GATED} && object.spec.?nodeName.orValue('') == ''`);

/** A map: kube-apiserver 1.36.3 panics on a list of `Object.spec.schedulingGates{…}` (docs/contributing/decisions/queue-gate.md). */
const GATE_ITEM = `{'name': '${QUEUE_GATE}'}`;
const ADD_GATE = [
  'size(object.spec.?schedulingGates.orValue([])) == 0',
  `? [JSONPatch{op: 'add', path: '/spec/schedulingGates', value: [${GATE_ITEM}]}]`,
  `: [JSONPatch{op: 'add', path: '/spec/schedulingGates/-', value: ${GATE_ITEM}}]`,
].join('\n');

/** The MutatingAdmissionPolicies that add the gate, and the size to the gang of a Job, each with its binding. */
export function gatePolicy(): readonly KubeObject[] {
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: ADD_GATE } }];
  const matchConditions = [NOT_A_NODE, NEEDS_GATE];
  return [
    ...mutatingPolicy(QUEUE_POLICY_NAMES.gate, { resourceRules: [CREATED_PODS], matchConditions, mutations }),
    ...mutatingPolicy(QUEUE_POLICY_NAMES.jobGang, JOB_GANGS),
  ];
}

/** `Ignore`: what is missing afterwards is refused by a policy that explains it. */
function mutatingPolicy(
  name: string,
  { resourceRules, ...rest }: { readonly resourceRules: readonly object[]; readonly [part: string]: unknown },
): readonly KubeObject[] {
  const shared = { failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded', matchConstraints: managed(resourceRules) };
  return [
    policy('MutatingAdmissionPolicy', name, { ...shared, ...rest }),
    policy('MutatingAdmissionPolicyBinding', name, { policyName: name }),
  ];
}

const IS_UPDATE = "request.operation == 'UPDATE'";
const GUARD_VARIABLES: readonly CelVariable[] = [
  celVariable('isGated', IS_GATED),
  celVariable('wasGated', `${IS_UPDATE} && ${IS_GATED.replace('object', 'oldObject')}`),
  celVariable('isLeader', IS_LEADER),
];

function annotationOf(object: string): string {
  return `${object}.metadata.?annotations['${ANNOTATION_ADMITTED}'].orValue('')`;
}

const MAY_RELEASE = `authorizer.group('${API_GROUP}').resource('queues').check('${RELEASE_VERB}').allowed()`;
const NOT_CREATED = "request.operation != 'CREATE'";

const GUARD_VALIDATIONS = [
  {
    expression: `${NOT_CREATED} || object.spec.?nodeName.orValue('') == ''`,
    message: `spec.nodeName must not be set: pods of this namespace wait in a queue (namespace label ${LABEL_QUEUES}=${QUEUES_MANAGED})`,
  },
  {
    expression: `${NOT_CREATED} || variables.isGated`,
    message: `spec.schedulingGates must contain ${QUEUE_GATE}, and nothing has added it: check the MutatingAdmissionPolicy ${QUEUE_POLICY_NAMES.gate}`,
  },
  {
    expression: `!variables.wasGated || variables.isGated || variables.isLeader || ${MAY_RELEASE}`,
    message: `the scheduling gate ${QUEUE_GATE} must only be removed by ${CONTROLLER}, which lets the pod in when its queue has room`,
  },
];

/**
 * While an uninstallation removes one policy after the other, nothing may refuse a pod for a gate that nothing adds any
 * more, so the guard judges only while the policy that adds the gate is there.
 */
const WHILE_GATED: Params = {
  paramKind: { apiVersion: POLICY_VERSION, kind: 'MutatingAdmissionPolicy' },
  paramRef: { name: QUEUE_POLICY_NAMES.gate, parameterNotFoundAction: 'Allow' },
};

/** `Fail`: a pod that cannot be judged must not bypass its queue. */
function guard(): readonly KubeObject[] {
  return validatingPolicy({
    name: QUEUE_POLICY_NAMES.guard,
    matchConditions: [NOT_A_NODE],
    variables: GUARD_VARIABLES,
    validations: GUARD_VALIDATIONS,
    params: WHILE_GATED,
    failurePolicy: 'Fail',
  });
}

/** Every way to write the annotations of a pod: a Binding passes its own on. */
const WRITTEN_MARKS = [WRITTEN_PODS, UPDATED_POD_PARTS, rule('', ['pods/binding', 'bindings'], ['CREATE'])];
const MARK_CHANGED = condition(
  'mark-changed',
  `${annotationOf('object')} != (${IS_UPDATE} ? ${annotationOf('oldObject')} : '')`,
);
/** The mark of a mirror pod counts for nothing, and a node without its mirror pods would look emptier than it is. */
const NOT_A_MIRROR_POD = condition(
  'not-a-mirror-pod',
  `!(request.operation == 'CREATE' && request.resource.resource == 'pods' && 'system:nodes' in request.userInfo.?groups.orValue([]))`,
);

/**
 * The annotation is the leader's alone, in every namespace: what a tenant writes before its namespace is managed would
 * count afterwards. `Fail`: a mark that cannot be judged must not be written; other writes are not judged.
 */
function mark(): readonly KubeObject[] {
  return validatingPolicy({
    name: QUEUE_POLICY_NAMES.mark,
    inAllNamespaces: true,
    resourceRules: WRITTEN_MARKS,
    matchConditions: [MARK_CHANGED, NOT_A_MIRROR_POD],
    variables: [],
    validations: [
      {
        expression: IS_LEADER,
        message: `the annotation ${ANNOTATION_ADMITTED} must only be written by ${CONTROLLER}`,
      },
    ],
    failurePolicy: 'Fail',
  });
}

/** A pod may name a queue that admits its namespace, or the one that its namespace names. */
function label(): readonly KubeObject[] {
  return validatingPolicy({ name: QUEUE_POLICY_NAMES.label, ...QUEUE_LABEL, failurePolicy: 'Ignore' });
}

function root(): readonly KubeObject[] {
  return validatingPolicy({
    name: QUEUE_POLICY_NAMES.root,
    ...QUEUE_ROOT,
    inAllNamespaces: true,
    failurePolicy: 'Fail',
  });
}

/** `Ignore`: the leader judges gangs too, and lets none of these in. */
function gang(): readonly KubeObject[] {
  return validatingPolicy({ name: QUEUE_POLICY_NAMES.gang, ...QUEUE_GANGS, failurePolicy: 'Ignore' });
}

/** Warnings about settings that behave differently while pods wait. They refuse nothing. */
function warnings(): readonly KubeObject[] {
  return validatingPolicy({
    name: QUEUE_POLICY_NAMES.warnings,
    ...QUEUE_WARNINGS,
    failurePolicy: 'Ignore',
    action: 'Warn',
  });
}

/** Objects with each of which the policy is evaluated, as `params`. */
interface Params {
  readonly paramKind: object;
  readonly paramRef: object;
}

interface Validating {
  readonly name: string;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  readonly validations: readonly object[];
  readonly params?: Params;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly inAllNamespaces?: boolean;
  /** Pods by default. */
  readonly resourceRules?: readonly object[];
  readonly action?: 'Deny' | 'Warn';
}

/** The ValidatingAdmissionPolicies that guard the queues and that warn, each with its binding. */
export function queuePolicies(): readonly KubeObject[] {
  return [...guard(), ...mark(), ...label(), ...gang(), ...root(), ...warnings()];
}

function validatingPolicy({
  name,
  validations,
  failurePolicy,
  params,
  inAllNamespaces = false,
  resourceRules = [WRITTEN_PODS],
  action = 'Deny',
  ...rest
}: Validating): readonly KubeObject[] {
  return [
    policy('ValidatingAdmissionPolicy', name, {
      failurePolicy,
      ...(params && { paramKind: params.paramKind }),
      matchConstraints: inAllNamespaces ? everywhere(resourceRules) : managed(resourceRules),
      ...rest,
      validations: validations.map((each) => ({ ...each, reason: 'Forbidden' })),
    }),
    policy('ValidatingAdmissionPolicyBinding', name, {
      policyName: name,
      ...(params && { paramRef: params.paramRef }),
      validationActions: [action],
    }),
  ];
}

function managed(resourceRules: readonly object[]): object {
  const requirement = { key: LABEL_QUEUES, operator: 'In', values: [QUEUES_MANAGED] };
  return { ...everywhere(resourceRules), namespaceSelector: judgedNamespaces(requirement) };
}

/** Includes defaults of the API server, so that another manager may apply the same without a conflict. */
function everywhere(resourceRules: readonly object[]): object {
  return { namespaceSelector: {}, resourceRules, objectSelector: {}, matchPolicy: 'Equivalent' };
}

function policy(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: POLICY_VERSION, kind, metadata: { name, labels: LABELS }, spec };
}

/*
 * How the API server itself makes pods wait in queues: it adds the scheduling gate to new pods and allows only the
 * queue leader to remove it (docs/contributing/decisions/queue-gate.md). Applies only in namespaces with the
 * label plimsoll.dev/queues=managed.
 */
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  API_GROUP,
  LABEL_QUEUES,
  QUEUE_GATE,
  QUEUE_POLICY_NAMES,
  QUEUE_RELEASE_ROLE,
  QUEUES_MANAGED,
  RELEASE_VERB,
} from '#shared/kube/api-names.ts';
import { condition, type CelVariable, type MatchCondition, NOT_A_NODE } from './cel-expressions.ts';
import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import { JOB_GANGS, QUEUE_GANGS } from './queue-gangs.ts';
import { QUEUE_LABEL } from './queue-label.ts';
import { QUEUED_PODS } from './queue-pods.ts';
import { QUEUE_ROOT } from './queue-root.ts';
import { QUEUE_WARNINGS } from './queue-warnings.ts';
import { CREATED_PODS, WRITTEN_PODS } from './webhook-configurations.ts';

const POLICY_VERSION = 'admissionregistration.k8s.io/v1';
const LABELS = {
  'app.kubernetes.io/name': 'plimsoll',
  'app.kubernetes.io/component': 'queues',
  'app.kubernetes.io/part-of': 'plimsoll',
};

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

/**
 * The MutatingAdmissionPolicies that add the gate, and the size to the gang of a Job, each with its binding; and the
 * right without which no pod is refused for want of a gate. Uninstallations remove roles first, so that nothing asks
 * for a gate that nothing adds any more.
 */
export function gatePolicy(): readonly KubeObject[] {
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: ADD_GATE } }];
  const matchConditions = [NOT_A_NODE, NEEDS_GATE];
  return [
    ...mayRelease(),
    ...mutatingPolicy(QUEUE_POLICY_NAMES.gate, { resourceRules: [CREATED_PODS], matchConditions, mutations }),
    ...mutatingPolicy(QUEUE_POLICY_NAMES.jobGang, JOB_GANGS),
  ];
}

/** The ClusterRole by which the leader may release pods, bound to its account. */
function mayRelease(): readonly KubeObject[] {
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const metadata = { name: QUEUE_RELEASE_ROLE, labels: LABELS };
  const { name, namespace } = ACCOUNTS.controller;
  const rules = [{ apiGroups: [API_GROUP], resources: ['queues'], verbs: [RELEASE_VERB] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: QUEUE_RELEASE_ROLE };
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  return [
    { apiVersion, kind: 'ClusterRole', metadata, rules },
    { apiVersion, kind: 'ClusterRoleBinding', metadata, roleRef, subjects },
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

const MANAGED = { key: LABEL_QUEUES, operator: 'In', values: [QUEUES_MANAGED] } as const;

/**
 * The policy over pods, with one binding for namespaces whose pods wait and one for all others, so that a write is
 * judged once. The first is its own parameter, by which the policy knows where it is.
 */
function pods(): readonly KubeObject[] {
  const { mark, guard } = QUEUE_POLICY_NAMES;
  const paramKind = { apiVersion: POLICY_VERSION, kind: 'ValidatingAdmissionPolicyBinding' };
  const others = { policyName: mark, matchResources: inNamespaces({ ...MANAGED, operator: 'NotIn' }) };
  const managed = { policyName: mark, matchResources: inNamespaces(MANAGED) };
  const paramRef = { name: guard, parameterNotFoundAction: 'Allow' };
  const validationActions = ['Deny'];
  return [
    validatingPolicy({ name: mark, ...QUEUED_PODS, paramKind }),
    policy('ValidatingAdmissionPolicyBinding', mark, { ...others, validationActions }),
    policy('ValidatingAdmissionPolicyBinding', guard, { ...managed, paramRef, validationActions }),
  ];
}

function inNamespaces(requirement: Requirement): object {
  return { namespaceSelector: { matchExpressions: [requirement] }, objectSelector: {}, matchPolicy: 'Equivalent' };
}

/** A pod may name a queue that admits its namespace, or the one that its namespace names. */
function label(): readonly KubeObject[] {
  return boundPolicy({ name: QUEUE_POLICY_NAMES.label, ...QUEUE_LABEL, failurePolicy: 'Ignore' });
}

function root(): readonly KubeObject[] {
  return boundPolicy({
    name: QUEUE_POLICY_NAMES.root,
    ...QUEUE_ROOT,
    inAllNamespaces: true,
    failurePolicy: 'Fail',
  });
}

/** `Ignore`: the leader judges gangs too, and lets none of these in. */
function gang(): readonly KubeObject[] {
  return boundPolicy({ name: QUEUE_POLICY_NAMES.gang, ...QUEUE_GANGS, failurePolicy: 'Ignore' });
}

/** Warnings about settings that behave differently while pods wait. They refuse nothing. */
function warnings(): readonly KubeObject[] {
  return boundPolicy({
    name: QUEUE_POLICY_NAMES.warnings,
    ...QUEUE_WARNINGS,
    failurePolicy: 'Ignore',
    action: 'Warn',
  });
}

interface Validating {
  readonly name: string;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  readonly validations: readonly object[];
  readonly paramKind?: object;
  readonly failurePolicy: 'Fail' | 'Ignore';
  readonly inAllNamespaces?: boolean;
  /** Pods by default. */
  readonly resourceRules?: readonly object[];
  /** All objects by default. */
  readonly objectSelector?: object;
}

/** With one binding for everything that the policy matches. */
interface Bound extends Validating {
  /** The object with which the policy is evaluated, as `params`. */
  readonly paramRef?: object;
  readonly action?: 'Deny' | 'Warn';
}

/** The ValidatingAdmissionPolicies that guard the queues and that warn, each with its bindings. */
export function queuePolicies(): readonly KubeObject[] {
  return [...pods(), ...label(), ...gang(), ...root(), ...warnings()];
}

function boundPolicy({ paramRef, action = 'Deny', ...validating }: Bound): readonly KubeObject[] {
  return [
    validatingPolicy(validating),
    policy('ValidatingAdmissionPolicyBinding', validating.name, {
      policyName: validating.name,
      ...(paramRef && { paramRef }),
      validationActions: [action],
    }),
  ];
}

function validatingPolicy({
  name,
  validations,
  failurePolicy,
  paramKind,
  inAllNamespaces = false,
  resourceRules = [WRITTEN_PODS],
  objectSelector = {},
  ...rest
}: Validating): KubeObject {
  const matched = inAllNamespaces ? everywhere(resourceRules) : managed(resourceRules);
  return policy('ValidatingAdmissionPolicy', name, {
    failurePolicy,
    ...(paramKind && { paramKind }),
    matchConstraints: { ...matched, objectSelector },
    ...rest,
    validations: validations.map((each) => ({ ...each, reason: 'Forbidden' })),
  });
}

function managed(resourceRules: readonly object[]): object {
  return { ...everywhere(resourceRules), namespaceSelector: judgedNamespaces(MANAGED) };
}

/** Includes defaults of the API server, so that another manager may apply the same without a conflict. */
function everywhere(resourceRules: readonly object[]): object {
  return { namespaceSelector: {}, resourceRules, objectSelector: {}, matchPolicy: 'Equivalent' };
}

function policy(kind: string, name: string, spec: object): KubeObject {
  return { apiVersion: POLICY_VERSION, kind, metadata: { name, labels: LABELS }, spec };
}

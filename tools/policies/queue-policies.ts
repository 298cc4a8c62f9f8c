/*
 * How the API server itself makes pods wait in queues: it adds the scheduling gate to new pods and allows only the
 * queue leader to remove it (docs/contributing/decisions/queue-gate.md). Applies only in namespaces with the
 * label plimsoll.dev/queues=managed or plimsoll.dev/managed=true.
 */
import { ACCOUNTS } from '#shared/kube/accounts/accounts.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { API_GROUP, QUEUE_GATE, QUEUE_POLICY_NAMES, QUEUE_RELEASE_ROLE, RELEASE_VERB } from '#shared/kube/api-names.ts';
import { celVariable, condition, type MatchCondition, NOT_A_NODE } from '#shared/kube/admission/cel-expressions.ts';
import {
  celIsOn,
  managedName,
  NAMESPACE_SWITCHES,
  selecting,
  dividing,
  type WrittenRequirement,
} from '#shared/kube/namespace-switches.ts';
import { judgedNamespaces } from '#shared/kube/admission/judged-namespaces.ts';
import { JOB_GANGS, QUEUE_GANGS } from './queue-gangs.ts';
import { QUEUE_LABEL } from './queue-label.ts';
import { QUEUED_PODS } from './queue-pods.ts';
import { QUEUE_RESIZE } from './queue-resize.ts';
import { QUEUE_ROOT } from './queue-root.ts';
import { QUEUE_WARNINGS } from './queue-warnings.ts';
import {
  bindingOf,
  type Bound,
  boundPolicy,
  labelsOf,
  type Validating,
  validatingPolicy,
} from './validating-policy.ts';
import { CREATED_PODS, WRITTEN_PODS } from '#shared/kube/admission/webhook-configurations.ts';

const POLICY_VERSION = 'admissionregistration.k8s.io/v1';
const OF_QUEUES = { component: 'queues' };
const LABELS = labelsOf(OF_QUEUES.component);
const { queues } = NAMESPACE_SWITCHES;

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
  const matchConditions = [NOT_A_NODE, NEEDS_GATE];
  return [
    ...mayRelease(),
    ...mutatingPolicy(QUEUE_POLICY_NAMES.gate, { resourceRules: [CREATED_PODS], matchConditions, patch: ADD_GATE }),
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
function mutatingPolicy(name: string, { resourceRules, matchConditions, patch }: Mutating): readonly KubeObject[] {
  const matchConstraints = { ...inNamespaces(judgedNamespaces().matchExpressions), resourceRules };
  const mutations = [{ patchType: 'JSONPatch', jsonPatch: { expression: `${IS_QUEUED} ? (${patch}) : []` } }];
  const spec = {
    failurePolicy: 'Ignore',
    reinvocationPolicy: 'IfNeeded',
    matchConstraints,
    matchConditions,
    mutations,
  };
  const kind = 'MutatingAdmissionPolicy';
  return [
    { apiVersion: POLICY_VERSION, kind, metadata: { name, labels: LABELS }, spec },
    ...whereQueued(name).map(({ name: binding, matchResources }) => ({
      apiVersion: POLICY_VERSION,
      kind: `${kind}Binding`,
      metadata: { name: binding, labels: LABELS },
      spec: { policyName: name, matchResources },
    })),
  ];
}

interface Mutating {
  readonly resourceRules: readonly object[];
  readonly matchConditions: readonly MatchCondition[];
  readonly patch: string;
}

/** The bindings of a policy for the namespaces whose pods wait. A selector cannot say "or", and no namespace meets both. */
function whereQueued(name: string): readonly Required<Bound>[] {
  const { own, managed } = selecting(queues);
  return [
    { name, matchResources: inNamespaces(own) },
    { name: managedName(name), matchResources: inNamespaces(managed) },
  ];
}

/**
 * Policies look at the namespace, too: an upgrade replaces a policy before its bindings, and the one of earlier builds is
 * for all namespaces.
 */
const IS_QUEUED = celIsOn(queues);

function inNamespaces(matchExpressions: readonly WrittenRequirement[]): object {
  return { namespaceSelector: { matchExpressions }, objectSelector: {}, matchPolicy: 'Equivalent' };
}

/**
 * The policy over pods, with two bindings for namespaces whose pods wait and one for all others, so that a write is
 * judged once. The first is the parameter of both, by which the policy knows where it is. They are applied first: in
 * earlier builds the last one was for more namespaces, and no moment of an upgrade may leave marks unguarded.
 */
function pods(): readonly KubeObject[] {
  const { mark, guard } = QUEUE_POLICY_NAMES;
  const paramKind = { apiVersion: POLICY_VERSION, kind: 'ValidatingAdmissionPolicyBinding' };
  const policy: Validating = { name: mark, ...OF_QUEUES, ...QUEUED_PODS, params: { paramKind, name: guard } };
  const paramRef = { name: guard, parameterNotFoundAction: 'Allow' };
  const { own, managed, rest } = dividing(queues);
  const bind = (name: string, where: readonly WrittenRequirement[], more: object) => {
    const spec = { policyName: mark, validationActions: ['Deny'], matchResources: inNamespaces(where), ...more };
    return bindingOf(OF_QUEUES, { name, ...spec });
  };
  return [
    validatingPolicy(policy),
    bind(guard, own, { paramRef }),
    bind(managedName(guard), managed, { paramRef }),
    bind(mark, rest, {}),
  ];
}

type OfQueued = Omit<Validating, 'component' | 'failurePolicy' | 'namespaceSelector'>;

/** A policy for the namespaces whose pods wait. */
function queuedPolicy({ variables = [], validations, ...policy }: OfQueued, action: 'Deny' | 'Warn' = 'Deny') {
  const held: Validating = {
    ...policy,
    ...OF_QUEUES,
    failurePolicy: 'Ignore',
    namespaceSelector: judgedNamespaces(),
    variables: [celVariable('isQueued', IS_QUEUED), ...variables],
    validations: validations.map((each) => ({ ...each, expression: `!variables.isQueued || (${each.expression})` })),
  };
  return boundPolicy(held, action, whereQueued(policy.name));
}

/**
 * The ValidatingAdmissionPolicies that guard the queues and that warn of what behaves differently while pods wait, each
 * with its bindings. `Ignore`: the leader judges labels and gangs too, and lets none of these pods in; what a resize takes counts for its queue.
 */
export function queuePolicies(): readonly KubeObject[] {
  return [
    ...pods(),
    ...queuedPolicy({ name: QUEUE_POLICY_NAMES.label, resourceRules: [WRITTEN_PODS], ...QUEUE_LABEL }),
    ...queuedPolicy({ name: QUEUE_POLICY_NAMES.gang, ...QUEUE_GANGS }),
    ...queuedPolicy({ name: QUEUE_POLICY_NAMES.resize, ...QUEUE_RESIZE }),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.root, ...OF_QUEUES, failurePolicy: 'Fail', ...QUEUE_ROOT }),
    ...queuedPolicy({ name: QUEUE_POLICY_NAMES.warnings, ...QUEUE_WARNINGS }, 'Warn'),
  ];
}

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
import { condition, NOT_A_NODE } from '#shared/kube/admission/cel-expressions.ts';
import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { judgedNamespaces } from '#shared/kube/admission/judged-namespaces.ts';
import { JOB_GANGS, QUEUE_GANGS } from './queue-gangs.ts';
import { QUEUE_LABEL } from './queue-label.ts';
import { QUEUED_PODS } from './queue-pods.ts';
import { QUEUE_RESIZE } from './queue-resize.ts';
import { QUEUE_ROOT } from './queue-root.ts';
import { QUEUE_WARNINGS } from './queue-warnings.ts';
import { bindingOf, boundPolicy, labelsOf, type Validating, validatingPolicy } from './validating-policy.ts';
import { CREATED_PODS, WRITTEN_PODS } from '#shared/kube/admission/webhook-configurations.ts';

const POLICY_VERSION = 'admissionregistration.k8s.io/v1';
const OF_QUEUES = { component: 'queues' };
const LABELS = labelsOf(OF_QUEUES.component);
const MANAGED = { key: LABEL_QUEUES, operator: 'In', values: [QUEUES_MANAGED] } as const;

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
  const namespaceSelector = judgedNamespaces(MANAGED);
  const matchConstraints = { namespaceSelector, resourceRules, objectSelector: {}, matchPolicy: 'Equivalent' };
  const spec = { failurePolicy: 'Ignore', reinvocationPolicy: 'IfNeeded', matchConstraints, ...rest };
  const object = { apiVersion: POLICY_VERSION, metadata: { name, labels: LABELS } };
  return [
    { ...object, kind: 'MutatingAdmissionPolicy', spec },
    { ...object, kind: 'MutatingAdmissionPolicyBinding', spec: { policyName: name } },
  ];
}

const IN_MANAGED = inNamespaces(MANAGED);
const IN_OTHERS = inNamespaces({ ...MANAGED, operator: 'NotIn' });

function inNamespaces(requirement: Requirement): object {
  return { namespaceSelector: { matchExpressions: [requirement] }, objectSelector: {}, matchPolicy: 'Equivalent' };
}

/**
 * The policy over pods, with one binding for namespaces whose pods wait and one for all others, so that a write is
 * judged once. The first is its own parameter, by which the policy knows where it is. It is applied first: in earlier
 * builds the other one was for all namespaces, and no moment of an upgrade may leave marks unguarded.
 */
function pods(): readonly KubeObject[] {
  const { mark, guard } = QUEUE_POLICY_NAMES;
  const paramKind = { apiVersion: POLICY_VERSION, kind: 'ValidatingAdmissionPolicyBinding' };
  const policy: Validating = { name: mark, ...OF_QUEUES, ...QUEUED_PODS, params: { paramKind, name: guard } };
  const paramRef = { name: guard, parameterNotFoundAction: 'Allow' };
  const bound = { policyName: mark, validationActions: ['Deny'] };
  return [
    validatingPolicy(policy),
    bindingOf(OF_QUEUES, { name: guard, ...bound, matchResources: IN_MANAGED, paramRef }),
    bindingOf(OF_QUEUES, { name: mark, ...bound, matchResources: IN_OTHERS }),
  ];
}

const OF_MANAGED = { ...OF_QUEUES, failurePolicy: 'Ignore', namespaceSelector: judgedNamespaces(MANAGED) } as const;

/**
 * The ValidatingAdmissionPolicies that guard the queues and that warn of what behaves differently while pods wait, each
 * with its bindings. `Ignore`: the leader judges labels and gangs too, and lets none of these pods in; what a resize takes counts for its queue.
 */
export function queuePolicies(): readonly KubeObject[] {
  return [
    ...pods(),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.label, ...OF_MANAGED, resourceRules: [WRITTEN_PODS], ...QUEUE_LABEL }),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.gang, ...OF_MANAGED, ...QUEUE_GANGS }),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.resize, ...OF_MANAGED, ...QUEUE_RESIZE }),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.root, ...OF_QUEUES, failurePolicy: 'Fail', ...QUEUE_ROOT }),
    ...boundPolicy({ name: QUEUE_POLICY_NAMES.warnings, ...OF_MANAGED, ...QUEUE_WARNINGS }, 'Warn'),
  ];
}

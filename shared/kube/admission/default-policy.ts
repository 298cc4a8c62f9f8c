/*
 * How the API server itself gives pods the class and the scheduler of their policies, from Kubernetes 1.36 on: the same
 * choice as the webhook makes (shared/domain/admission/decide-mutation.ts), from the PriorityRules object
 * `plimsoll-defaults`. Avoided nodes are left to the webhook (docs/decisions/0062-defaults-in-the-api-server.md).
 */
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { API_VERSION, DEFAULT_POLICY, PRIORITY_RULES_NAMES } from '#shared/kube/api-names.ts';
import { DEFAULT_SCHEDULER } from '#shared/domain/admission/choose-scheduler.ts';
import { celVariable, type CelVariable, condition, NOT_A_NODE, NOT_OURSELVES, ROW } from './cel-expressions.ts';
import { POLICY_LABELS } from './admission-policies.ts';
import { chosenClass, first, heldRules } from './rule-expressions.ts';
import { CREATED_PODS, judgedNamespaces } from './webhook-configurations.ts';

/** The class of a pod, empty without one. */
export const CLASS_OF_POD = "object.spec.?priorityClassName.orValue('')";
/** A pod that names no scheduler and has no node yet. */
export const MAY_GET_SCHEDULER = [
  `object.spec.?schedulerName.orValue('${DEFAULT_SCHEDULER}') == '${DEFAULT_SCHEDULER}'`,
  "object.spec.?nodeName.orValue('') == ''",
].join(' && ');

/** The API server patches a pod, and asks all plugins again, wherever these are true: so only where there is something to give. */
const RECEIVES = condition(
  'may-receive',
  [
    `${CLASS_OF_POD} == ''`,
    `${CLASS_OF_POD} == params.spec.globalDefault`,
    `${CLASS_OF_POD} in params.spec.receivers.priorityClassNames`,
    `(params.spec.receivers.schedulers && ${MAY_GET_SCHEDULER})`,
  ].join(' || '),
);

/**
 * What is written, as variables. The API server fills in the global default before it asks its policies; that a user
 * named it shows in managedFields, which has a few entries.
 */
export const DEFAULT_VARIABLES: readonly CelVariable[] = [
  ...heldRules("object.spec.?serviceAccountName.orValue('default')"),
  celVariable('current', CLASS_OF_POD),
  celVariable('managers', 'object.metadata.?managedFields.orValue([])'),
  celVariable(
    'isFilledIn',
    'variables.current == params.spec.globalDefault && size(variables.managers) > 0 &&',
    `(size(variables.managers) > ${ROW} || !variables.managers.exists(manager,`,
    "  has(manager.fieldsV1) && 'f:spec' in manager.fieldsV1 &&",
    "  'f:priorityClassName' in manager.fieldsV1['f:spec']))",
  ),
  celVariable('named', "variables.isFilledIn ? '' : variables.current"),
  ...chosenClass(false),
  celVariable('isGiven', 'variables.className != variables.current && variables.className in params.spec.classes'),
  celVariable(
    'scheduling',
    `!(${MAY_GET_SCHEDULER}) ? [] : variables.held`,
    '  .map(rules, rules.filter(rule, has(rule.schedulerName)))',
    '  .filter(rules, size(rules) > 0).map(rules, rules[0])',
  ),
  celVariable(
    'schedulerName',
    `size(variables.scheduling) == 0 ? '${DEFAULT_SCHEDULER}' : ${first('scheduling')}[0].schedulerName`,
  ),
];

/** `add` also replaces. */
const PATCH = [
  '(!variables.isGiven ? [] : [',
  "  JSONPatch{op: 'add', path: '/spec/priorityClassName', value: variables.className},",
  "  JSONPatch{op: 'add', path: '/spec/priority', value: params.spec.classes[variables.className].value},",
  "  JSONPatch{op: 'add', path: '/spec/preemptionPolicy', value: params.spec.classes[variables.className].preemptionPolicy}",
  `]) + (variables.schedulerName == '${DEFAULT_SCHEDULER}' ? [] : [`,
  "  JSONPatch{op: 'add', path: '/spec/schedulerName', value: variables.schedulerName}",
  '])',
].join('\n');

/**
 * The MutatingAdmissionPolicy and its binding. `Ignore`: a pod whose default was skipped is refused by the
 * ValidatingAdmissionPolicy, and a missing CRD or object refuses no pod.
 */
export function defaultPolicy(): readonly KubeObject[] {
  const metadata = { name: DEFAULT_POLICY, labels: POLICY_LABELS };
  return [
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicy',
      metadata,
      spec: {
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'IfNeeded',
        paramKind: { apiVersion: API_VERSION, kind: 'PriorityRules' },
        matchConstraints: {
          namespaceSelector: judgedNamespaces(),
          resourceRules: [CREATED_PODS],
          matchPolicy: 'Equivalent',
        },
        matchConditions: [NOT_A_NODE, NOT_OURSELVES, RECEIVES],
        variables: DEFAULT_VARIABLES,
        mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: PATCH } }],
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: DEFAULT_POLICY,
        paramRef: { name: PRIORITY_RULES_NAMES.giving, parameterNotFoundAction: 'Allow' },
      },
    },
  ];
}

/*
 * How the API server itself sets the class and the scheduler of pods by their policies, from Kubernetes 1.36 on. It is
 * the same choice as in the webhook (shared/domain/admission/decide-mutation.ts), made from the PriorityRules object
 * `plimsoll-defaults`. Only the webhook handles avoided nodes (docs/contributing/decisions/defaults-in-api-server.md).
 * Groups of pods get the class of their pods (docs/contributing/decisions/pod-groups.md).
 */
import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  ANNOTATION_CLASS_RULE,
  API_VERSION,
  DEFAULT_POLICY,
  GROUP_DEFAULT_POLICY,
  PRIORITY_RULES_NAMES,
} from '#shared/kube/api-names.ts';
import { DEFAULT_SCHEDULER } from '#shared/domain/admission/request.ts';
import {
  celVariable,
  type CelVariable,
  condition,
  type MatchCondition,
  NOT_A_NODE,
  NOT_OURSELVES,
} from './cel-expressions.ts';
import { POLICY_LABELS } from './admission-policies.ts';
import { chosenClass, CLASS_OF_POD, CLASS_RECORD, first, HAS_RECORD, NAMED_CLASS, RULED_POD } from './chosen-class.ts';
import { heldRules, NO_ACCOUNT } from './rule-expressions.ts';
import { MAY_MOVE, MOVE_PATCH, MOVE_VARIABLES } from './spare-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import { RECORD_PATH } from './pod-patches.ts';
import { CREATED_POD_GROUPS, CREATED_PODS } from './webhook-configurations.ts';

/** A pod that names no scheduler and has no node yet. */
export const MAY_GET_SCHEDULER = [
  `object.spec.?schedulerName.orValue('${DEFAULT_SCHEDULER}') == '${DEFAULT_SCHEDULER}'`,
  "object.spec.?nodeName.orValue('') == ''",
].join(' && ');

/**
 * Where these are true, the API server patches the pod and runs all plugins again; so they are true only if there is
 * something to set.
 */
const RECEIVES_CLASS = [
  `${CLASS_OF_POD} == ''`,
  `${CLASS_OF_POD} == params.spec.globalDefault`,
  `${CLASS_OF_POD} in params.spec.receivers.priorityClassNames`,
];
const RECEIVES = condition(
  'may-receive',
  [...RECEIVES_CLASS, HAS_RECORD, MAY_MOVE, `(params.spec.receivers.schedulers && ${MAY_GET_SCHEDULER})`].join(' || '),
);

function givenClass(account: string): readonly CelVariable[] {
  return [
    ...heldRules(account),
    ...RULED_POD,
    ...NAMED_CLASS,
    ...chosenClass('given', { withoutPersonal: false }),
    celVariable('isGiven', 'variables.given != variables.className && variables.given in params.spec.classes'),
  ];
}

/** The values to write, as variables. */
export const DEFAULT_VARIABLES: readonly CelVariable[] = [
  ...givenClass("object.spec.?serviceAccountName.orValue('default')"),
  ...CLASS_RECORD,
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
  ...MOVE_VARIABLES,
];

/** `add` also replaces. */
const CLASS_AND_NUMBER = [
  "  JSONPatch{op: 'add', path: '/spec/priorityClassName', value: variables.given},",
  "  JSONPatch{op: 'add', path: '/spec/priority', value: params.spec.classes[variables.given].value}",
].join('\n');
const PATCH = [
  '(!variables.isGiven ? [] : [',
  `${CLASS_AND_NUMBER},`,
  "  JSONPatch{op: 'add', path: '/spec/preemptionPolicy', value: params.spec.classes[variables.given].preemptionPolicy}",
  `]) + (variables.record == variables.recorded ? [] :`,
  `  variables.record == '' ? [JSONPatch{op: 'remove', path: '${RECORD_PATH}'}] :`,
  `  !has(object.metadata.annotations) ?`,
  `  [JSONPatch{op: 'add', path: '/metadata/annotations', value: {'${ANNOTATION_CLASS_RULE}': variables.record}}] :`,
  `  [JSONPatch{op: 'add', path: '${RECORD_PATH}', value: variables.record}]`,
  `) + (variables.schedulerName == '${DEFAULT_SCHEDULER}' ? [] : [`,
  "  JSONPatch{op: 'add', path: '/spec/schedulerName', value: variables.schedulerName}",
  '])',
].join('\n');

interface DefaultsPolicy {
  readonly name: string;
  readonly created: object;
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  /** Each is made from the object as the ones before leave it. */
  readonly patches: readonly string[];
}

/** The MutatingAdmissionPolicy for pods and its binding. */
export function defaultPolicy(): readonly KubeObject[] {
  return givingPolicy({
    name: DEFAULT_POLICY,
    created: CREATED_PODS,
    matchConditions: [NOT_A_NODE, NOT_OURSELVES, RECEIVES],
    variables: DEFAULT_VARIABLES,
    patches: [PATCH, MOVE_PATCH],
  });
}

/**
 * Kubernetes gives every group a number, unless the feature that gives groups classes is off: then it removes the class
 * again.
 */
const HAS_NUMBER = condition('has-a-number', 'has(object.spec.priority)');

/** The same for groups of pods (`PodGroup`), which have neither a preemption policy nor a scheduler. */
export function groupDefaultPolicy(): readonly KubeObject[] {
  return givingPolicy({
    name: GROUP_DEFAULT_POLICY,
    created: CREATED_POD_GROUPS,
    matchConditions: [NOT_OURSELVES, HAS_NUMBER, condition(RECEIVES.name, RECEIVES_CLASS.join(' || '))],
    variables: givenClass(NO_ACCOUNT),
    patches: [['!variables.isGiven ? [] : [', CLASS_AND_NUMBER, ']'].join('\n')],
  });
}

/**
 * `Ignore`: the ValidatingAdmissionPolicy refuses a pod whose default was skipped, and a missing CRD or object refuses
 * no pod.
 */
function givingPolicy({ name, created, matchConditions, variables, patches }: DefaultsPolicy): readonly KubeObject[] {
  const metadata = { name, labels: POLICY_LABELS };
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
          objectSelector: {},
          resourceRules: [created],
          matchPolicy: 'Equivalent',
        },
        matchConditions,
        variables,
        mutations: patches.map((expression) => ({ patchType: 'JSONPatch', jsonPatch: { expression } })),
      },
    },
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'MutatingAdmissionPolicyBinding',
      metadata,
      spec: {
        policyName: name,
        paramRef: { name: PRIORITY_RULES_NAMES.giving, parameterNotFoundAction: 'Allow' },
      },
    },
  ];
}

import type { KubeObject } from '#shared/kube/kube-object.ts';
import {
  type CelVariable,
  type MatchCondition,
  NOT_A_CONTROLLER,
  NOT_A_NODE,
  NOT_OURSELVES,
  QOS_VARIABLES,
} from './cel-expressions.ts';
import {
  POD_GROUP_RULE_VARIABLES,
  POD_RULE_VARIABLES,
  TEMPLATE_RULE_VARIABLES,
  WORKLOAD_RULE_VARIABLES,
} from './rule-expressions.ts';
import { judgedNamespaces } from './judged-namespaces.ts';
import {
  CREATED_POD_GROUPS,
  CREATED_PODS,
  CREATED_WORKLOADS,
  RESIZED_PODS,
  WRITTEN_TEMPLATES,
} from './webhook-configurations.ts';
import { RESIZE_VARIABLES } from './spare-expressions.ts';
import { API_VERSION, PRIORITY_RULES_NAMES, RULES_OF_GROUPS, WEBHOOK_ENTRIES } from '#shared/kube/api-names.ts';

interface Validation {
  readonly expression: string;
  readonly message: string;
  readonly messageExpression: string;
}

interface Policy {
  readonly name: string;
  readonly rules: readonly object[];
  readonly matchConditions: readonly MatchCondition[];
  readonly variables: readonly CelVariable[];
  readonly validations: readonly Validation[];
}

/** An update that does not change the template, such as scaling, creates no different pods. */
const TEMPLATE_CHANGED: MatchCondition = {
  name: 'template-changed',
  expression: `request.operation != 'UPDATE' || ${template('object')} != ${template('oldObject')}`,
};

function template(object: string): string {
  return `${object}.spec.?jobTemplate.?spec.?template.orValue(${object}.spec.?template.orValue(null))`;
}

/**
 * The ValidatingAdmissionPolicies with which the API server itself enforces the compiled rules on pods and templates,
 * each with one binding to the rules that refuse and one to the rules that warn. `Ignore`: if the CRD is missing,
 * `Fail` would reject every pod of the cluster. If the object is missing, there is nothing to enforce.
 */
export function rulePolicies(): readonly KubeObject[] {
  return [podPolicy(), templatePolicy(), podGroupPolicy(), workloadPolicy()].flatMap((policy) => [
    rulePolicy(policy),
    binding(policy.name, policy.name, 'Deny', PRIORITY_RULES_NAMES.refusing),
    binding(`warnings.${policy.name}`, policy.name, 'Warn', PRIORITY_RULES_NAMES.warning),
  ]);
}

function podPolicy(): Policy {
  return {
    name: WEBHOOK_ENTRIES.priority,
    rules: [CREATED_PODS, RESIZED_PODS],
    matchConditions: [NOT_A_NODE, NOT_OURSELVES],
    variables: [...POD_RULE_VARIABLES, ...QOS_VARIABLES, ...RESIZE_VARIABLES],
    validations: [
      onlyOn('CREATE', 'qosFault', "status.qosClass must be what follows from the pod's requests and limits"),
      onlyOn(
        'CREATE',
        'spareFault',
        'no PriorityPolicy grants spare room to this pod, or it requests cpu or memory too',
      ),
      onlyOn('CREATE', 'violation', 'a PriorityPolicy forbids the priority class of this pod'),
      onlyOn(
        'UPDATE',
        'resizeFault',
        'a PriorityPolicy runs this pod in spare room: it must request no cpu and memory',
      ),
    ],
  };
}

function onlyOn(operation: 'CREATE' | 'UPDATE', variable: string, message: string): Validation {
  const { expression, ...said } = sentenceOrNothing(variable, message);
  return { expression: `request.operation != '${operation}' || ${expression}`, ...said };
}

function templatePolicy(): Policy {
  return {
    name: WEBHOOK_ENTRIES.templates,
    rules: WRITTEN_TEMPLATES,
    matchConditions: [NOT_OURSELVES, NOT_A_CONTROLLER, TEMPLATE_CHANGED],
    variables: TEMPLATE_RULE_VARIABLES,
    validations: [sentenceOrNothing('violation', 'a PriorityPolicy forbids the priority class of this template')],
  };
}

/** The creator of a group, a person or a controller, decides the priority of its pods together. */
function podGroupPolicy(): Policy {
  return {
    name: RULES_OF_GROUPS.podGroups,
    rules: [CREATED_POD_GROUPS],
    matchConditions: [NOT_OURSELVES],
    variables: POD_GROUP_RULE_VARIABLES,
    validations: [ofNamedClass('a PriorityPolicy forbids the priority class of this group')],
  };
}

function workloadPolicy(): Policy {
  return {
    name: RULES_OF_GROUPS.workloads,
    rules: [CREATED_WORKLOADS],
    matchConditions: [NOT_OURSELVES, NOT_A_CONTROLLER],
    variables: WORKLOAD_RULE_VARIABLES,
    validations: [ofNamedClass('a PriorityPolicy forbids a priority class of this workload')],
  };
}

/** In a group without a class, no user chose a class to judge. */
function ofNamedClass(message: string): Validation {
  const { expression, ...said } = sentenceOrNothing('violation', message);
  return { expression: `variables.className == '' || ${expression}`, ...said };
}

/**
 * A variable that describes the violation and is empty without one; `message` replaces a description that is too long.
 */
function sentenceOrNothing(variable: string, message: string): Validation {
  return { expression: `variables.${variable} == ''`, messageExpression: `variables.${variable}`, message };
}

function rulePolicy({ name, rules, matchConditions, variables, validations }: Policy): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    metadata: { name, labels: POLICY_LABELS },
    spec: {
      failurePolicy: 'Ignore',
      paramKind: { apiVersion: API_VERSION, kind: 'PriorityRules' },
      matchConstraints: {
        namespaceSelector: judgedNamespaces(),
        objectSelector: {},
        resourceRules: rules,
        matchPolicy: 'Equivalent',
      },
      matchConditions,
      variables,
      validations: validations.map((validation) => ({ ...validation, reason: 'Forbidden' })),
    },
  };
}

function binding(name: string, policyName: string, action: 'Deny' | 'Warn', rules: string): KubeObject {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    metadata: { name, labels: POLICY_LABELS },
    spec: { policyName, validationActions: [action], paramRef: { name: rules, parameterNotFoundAction: 'Allow' } },
  };
}

/** Common to every admission policy and binding. */
export const POLICY_LABELS = {
  'app.kubernetes.io/name': 'plimsoll',
  'app.kubernetes.io/component': 'webhook',
  'app.kubernetes.io/part-of': 'plimsoll',
};

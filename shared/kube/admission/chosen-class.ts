/*
 * The class that a pod gets by the compiled rules, as CEL variables over `params` and the lists of matching rules
 * (rule-expressions.ts). It is the same choice as in shared/domain/admission/decide-mutation.ts.
 */
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { OWNERS_BETWEEN } from '#shared/kube/decode/decode-pod-request.ts';
import { TAKES_POD } from '#shared/domain/admission/rules/class-rules.ts';
import { MAX_OWNERS } from '#shared/domain/priority/classes-and-policies.ts';
import { celVariable, type CelVariable, ROW } from './cel-expressions.ts';

/** The class of a pod; empty if it has none. */
export const CLASS_OF_POD = "object.spec.?priorityClassName.orValue('')";

/**
 * The class of a pod, and the class that its user named. The API server fills in the global default before it evaluates
 * policies; managedFields, which has a few entries, shows whether the user named it.
 */
export const NAMED_CLASS: readonly CelVariable[] = [
  celVariable('className', CLASS_OF_POD),
  celVariable('managers', 'object.metadata.?managedFields.orValue([])'),
  celVariable(
    'isFilledIn',
    'variables.className == params.spec.globalDefault && size(variables.managers) > 0 &&',
    `(size(variables.managers) > ${ROW} || !variables.managers.exists(manager,`,
    "  has(manager.fieldsV1) && 'f:spec' in manager.fieldsV1 &&",
    "  'f:priorityClassName' in manager.fieldsV1['f:spec']))",
  ),
  celVariable('named', "variables.isFilledIn ? '' : variables.className"),
];

/** A pod with the annotation for the rule that set its class, which any user can write. */
export const HAS_RECORD = `'${ANNOTATION_CLASS_RULE}' in object.metadata.?annotations.orValue({})`;

/** The pod's facts that rules check: labels, and the kind of the controller, empty if it has none. */
export const RULED_POD: readonly CelVariable[] = [
  celVariable('podLabels', 'object.metadata.?labels.orValue({})'),
  celVariable('owners', 'object.metadata.?ownerReferences.orValue([])'),
  celVariable(
    'ownerKind',
    `size(variables.owners) > ${MAX_OWNERS} ? '' :`,
    "(variables.owners.filter(owner, owner.?controller.orValue(false)).map(owner, owner.kind) + [''])[0]",
  ),
];

/** The same for the pods of a template. */
export const RULED_TEMPLATE: readonly CelVariable[] = [
  celVariable(
    'podLabels',
    'object.spec.?jobTemplate.?spec.?template.?metadata.?labels.orValue(',
    '  object.spec.?template.?metadata.?labels.orValue({}))',
  ),
  celVariable('ownerKind', Object.entries(OWNERS_BETWEEN).reduceRight(ownerBetween, 'request.kind.kind')),
];

function ownerBetween(otherwise: string, [kind, owner]: readonly [string, string]): string {
  return `request.kind.kind == '${kind}' ? '${owner}' : ${otherwise}`;
}

/**
 * Sets the variable `result` to the class of a pod whose user names the class `named`: that one, else the lowest that
 * rules set, else the global default; or its substitute. Rules for persons apply if a known user creates the pod
 * directly.
 */
export function chosenClass(
  result: string,
  { withoutPersonal }: { readonly withoutPersonal: boolean },
): readonly CelVariable[] {
  const lasting = withoutPersonal ? '!rule.isPersonal && ' : '';
  return [
    celVariable(
      'ruled',
      'variables.held.map(rules, rules',
      `  .filter(rule, ${lasting}has(rule.gives))`,
      '  .map(rule, rule.gives.filter(each, has(each.rank) && each.rank < size(params.spec.classNames) &&',
      `    ${TAKES_POD}))`,
      '  .filter(some, size(some) > 0).map(some, some[0])',
      ').filter(some, size(some) > 0)',
    ),
    celVariable('ranks', 'variables.ruled.map(some, some.map(each, each.rank).min())'),
    celVariable('byRule', "size(variables.ranks) > 0 ? params.spec.classNames[variables.ranks.min()] : ''"),
    celVariable(
      'chosen',
      "variables.named != '' ? variables.named :",
      "variables.byRule != '' ? variables.byRule : params.spec.globalDefault",
    ),
    ...substituted(result, 'chosen', lasting),
  ];
}

/** Sets the variable `result` to the class of another variable or its substitute. */
function substituted(result: string, of: string, lasting: string): readonly CelVariable[] {
  const substituting = `${result}Instead`;
  return [
    celVariable(
      substituting,
      'variables.held.map(rules, rules.filter(rule,',
      `  ${lasting}variables.${of} in rule.substitutePriorityClassNames &&`,
      `  rule.substitutePriorityClassNames[variables.${of}] in params.spec.classes &&`,
      `  params.spec.classes[rule.substitutePriorityClassNames[variables.${of}]].preemptionPolicy == 'Never'`,
      ')).filter(rules, size(rules) > 0).map(rules, rules[0])',
    ),
    celVariable(
      result,
      `variables.${of} in params.spec.classes &&`,
      `params.spec.classes[variables.${of}].preemptionPolicy != 'Never' && size(variables.${substituting}) > 0 ?`,
      `${first(substituting)}[0].substitutePriorityClassNames[variables.${of}] : variables.${of}`,
    ),
  ];
}

/**
 * Sets the variable `record` to the rule to record on the pod, empty for none. `recorded` is the rule that the pod
 * names. It stays if the rules would give such a pod its current class, because this policy then set the class before.
 */
export const CLASS_RECORD: readonly CelVariable[] = [
  celVariable('recorded', `object.metadata.?annotations['${ANNOTATION_CLASS_RULE}'].orValue('')`),
  ...substituted('givenByRule', 'byRule', ''),
  celVariable('lowestRank', 'size(variables.ranks) > 0 ? variables.ranks.min() : 0'),
  celVariable(
    'lowest',
    'variables.ruled.map(some, some.filter(each, each.rank == variables.lowestRank))',
    '  .filter(some, size(some) > 0).map(some, some[0])',
  ),
  celVariable('rule', `size(variables.lowest) == 0 ? '' : ${first('lowest')}[0].record`),
  celVariable(
    'record',
    '(variables.isGiven ? variables.given : variables.className) == variables.givenByRule &&',
    "(variables.named == '' || variables.recorded == variables.rule) ? variables.rule : ''",
  ),
];

/** The rule with the lowest number in a variable, as a list of one. */
export function first(rules: string): string {
  return `variables.${rules}.filter(rule, variables.${rules}.all(other, rule.order <= other.order))`;
}

/*
 * Which class a pod gets by the compiled rules, as CEL variables over `params` and the lists of rules that hold
 * (rule-expressions.ts): the choice of shared/domain/admission/choose-fields.ts.
 */
import { ANNOTATION_CLASS_RULE } from '#shared/kube/api-names.ts';
import { OWNERS_BETWEEN } from '#shared/kube/decode/decode-pod-request.ts';
import { MAX_OWNERS } from '#shared/domain/priority/priority-policy.ts';
import { celVariable, type CelVariable, ROW } from './cel-expressions.ts';

/** The class of a pod, empty without one. */
export const CLASS_OF_POD = "object.spec.?priorityClassName.orValue('')";

/**
 * The class that a pod has, and the one that its user named. The API server fills in the global default before it asks
 * its policies; that a user named it shows in managedFields, which has a few entries.
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

/** A pod that names a rule as that which gave its class, as anyone can. */
export const HAS_RECORD = `'${ANNOTATION_CLASS_RULE}' in object.metadata.?annotations.orValue({})`;

/** What rules look at: labels, and the kind of the controller, empty without one. */
export const RULED_POD: readonly CelVariable[] = [
  celVariable('podLabels', 'object.metadata.?labels.orValue({})'),
  celVariable('owners', 'object.metadata.?ownerReferences.orValue([])'),
  celVariable(
    'ownerKind',
    `size(variables.owners) > ${MAX_OWNERS} ? '' :`,
    "(variables.owners.filter(owner, owner.?controller.orValue(false)).map(owner, owner.kind) + [''])[0]",
  ),
];

/** The same of the pods that a template describes. */
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

/** Whether what a rule gives, as `each`, is for the pod. */
export const TAKES_POD = [
  '(!has(each.ownerKinds) || variables.ownerKind in each.ownerKinds) &&',
  '(!has(each.podLabels) || each.podLabels.all(test, test.is ==',
  '  (test.key in variables.podLabels && (!has(test.values) || variables.podLabels[test.key] in test.values))))',
].join('\n');

/**
 * As the variable `result`, the class that a pod gets whose user names the class `named`: that one, else the lowest
 * that rules give, else the global default; or its substitute. Rules for persons count where the user is known who creates
 * the pod itself.
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

/** As the variable `result`, the class of another variable or its substitute. */
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
 * As the variable `record`, the rule to record on the pod, empty for none; `recorded` is the rule that the pod names. It
 * stays if the rules give such a pod the class that this one has, which then came from this policy before.
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

/** Of the rules in a variable that with the lowest number, as a list of one. */
export function first(rules: string): string {
  return `variables.${rules}.filter(rule, variables.${rules}.all(other, rule.order <= other.order))`;
}

/*
 * Which class a pod gets by the compiled rules, as CEL variables over `params` and the lists of rules that hold
 * (rule-expressions.ts): the choice of shared/domain/admission/choose-fields.ts.
 */
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

/**
 * As the variable `result`, the class that a pod gets whose user names the class `named`: that one, else the lowest
 * default, else the global default; or its substitute. Rules for persons count where the user is known who creates the
 * pod itself.
 */
export function chosenClass(
  result: string,
  { withoutPersonal }: { readonly withoutPersonal: boolean },
): readonly CelVariable[] {
  const lasting = withoutPersonal ? '!rule.isPersonal && ' : '';
  return [
    celVariable(
      'ranks',
      'variables.held.map(rules, rules',
      `  .filter(rule, ${lasting}has(rule.defaultRank) && rule.defaultRank < size(params.spec.classNames))`,
      '  .map(rule, rule.defaultRank)',
      ').filter(ranks, size(ranks) > 0).map(ranks, ranks.min())',
    ),
    celVariable(
      'chosen',
      "variables.named != '' ? variables.named :",
      'size(variables.ranks) > 0 ? params.spec.classNames[variables.ranks.min()] : params.spec.globalDefault',
    ),
    celVariable(
      'substituting',
      'variables.held.map(rules, rules.filter(rule,',
      `  ${lasting}variables.chosen in rule.substitutePriorityClassNames &&`,
      '  rule.substitutePriorityClassNames[variables.chosen] in params.spec.classes &&',
      "  params.spec.classes[rule.substitutePriorityClassNames[variables.chosen]].preemptionPolicy == 'Never'",
      ')).filter(rules, size(rules) > 0).map(rules, rules[0])',
    ),
    celVariable(
      result,
      'variables.chosen in params.spec.classes &&',
      "params.spec.classes[variables.chosen].preemptionPolicy != 'Never' && size(variables.substituting) > 0 ?",
      `${first('substituting')}[0].substitutePriorityClassNames[variables.chosen] : variables.chosen`,
    ),
  ];
}

/** Of the rules in a variable that with the lowest number, as a list of one. */
export function first(rules: string): string {
  return `variables.${rules}.filter(rule, variables.${rules}.all(other, rule.order <= other.order))`;
}

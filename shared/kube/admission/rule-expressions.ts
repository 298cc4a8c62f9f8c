/*
 * How the API server judges by a PriorityRules object: CEL over `params`, the object and its namespace. What each rule
 * says stands next to what the webhook says of it (shared/domain/admission/rules).
 *
 * No input of a tenant may make an expression fail, because a failed expression lets the object in. So a field is read
 * only if it is known to be there, and every loop has a bound that keeps the caller within the budget
 * (docs/contributing/decisions/rules-in-api-server.md). Only functions of Kubernetes 1.30 are used.
 */
import type { CelRule, CelScope, Judged } from '#shared/domain/admission/policy-rule.ts';
import { RULES_FOR } from '#shared/domain/admission/policy-rules.ts';
import { CEL_SPARE_FAULT } from '#shared/domain/admission/rules/spare-rules.ts';
import { celLabelRule } from '#shared/domain/admission/rules/room-rules.ts';
import { SERVICE_ACCOUNT_PREFIX } from '#shared/domain/priority/classes-and-policies.ts';
import { celIsOn, NAMESPACE_SWITCHES } from '#shared/kube/namespace-switches.ts';
import { SPARE_VARIABLES } from './spare-expressions.ts';
import { QUOTA_LABEL } from './judged-namespaces.ts';
import { celVariable, type CelVariable, NUMBERS, ROW } from './cel-expressions.ts';
import { chosenClass, CLASS_OF_POD, first, NAMED_CLASS, RULED_POD, RULED_TEMPLATE } from './chosen-class.ts';

/** A user in more groups is treated as a member of every group that a rule names. */
const MAX_GROUPS = ROW * ROW;

/** Who asks, where, and the rules that match: lists of rules, each in order of the policies' names. */
export function heldRules(account: string): readonly CelVariable[] {
  return [
    celVariable('labels', 'namespaceObject.?metadata.?labels.orValue({})'),
    celVariable('isQuotaEnforced', celIsOn(NAMESPACE_SWITCHES.quotas, 'variables.labels')),
    celVariable('username', "request.userInfo.?username.orValue('')"),
    celVariable('groups', 'request.userInfo.?groups.orValue([])'),
    celVariable('account', `'${SERVICE_ACCOUNT_PREFIX}' + request.namespace + ':' + ${account}`),
    NUMBERS,
    celVariable(
      'namedGroups',
      `size(params.spec.groups) == 0 || size(variables.groups) > ${MAX_GROUPS} ? [] :`,
      `size(variables.groups) <= ${ROW} ? [variables.groups.filter(group, group in params.spec.groups)] :`,
      `variables.numbers.filter(row, row * ${ROW} < size(variables.groups)).map(row, variables.numbers`,
      `  .filter(column, row * ${ROW} + column < size(variables.groups))`,
      `  .map(column, variables.groups[row * ${ROW} + column])`,
      '  .filter(group, group in params.spec.groups)',
      ').filter(some, size(some) > 0)',
    ),
    celVariable(
      'found',
      '[params.spec.everywhere] + params.spec.byLabel.filter(key,',
      '  key in variables.labels && variables.labels[key] in params.spec.byLabel[key]',
      ').map(key, params.spec.byLabel[key][variables.labels[key]])',
    ),
    celVariable(
      'held',
      'variables.found.map(orders, orders',
      '  .filter(order, order < size(params.spec.rules))',
      '  .map(order, params.spec.rules[order])',
      '  .filter(rule,',
      '    rule.namespaceLabels.all(test, test.is ==',
      '      (test.key in variables.labels && (!has(test.values) || variables.labels[test.key] in test.values))) &&',
      '    (!has(rule.subjects) ||',
      '      variables.username in rule.subjects.users ||',
      '      variables.username in rule.subjects.serviceAccounts ||',
      '      variables.account in rule.subjects.serviceAccounts ||',
      '      (size(rule.subjects.groups) > 0 && (',
      `        size(variables.groups) > ${MAX_GROUPS} ||`,
      '        variables.namedGroups.exists(some, some.exists(group, group in rule.subjects.groups)))))))',
    ),
  ];
}

/** Of an object. The name of a class is shown up to this length. */
const MAX_NAME_LENGTH = 253;

/** Which rules judge. Those for persons judge templates, which may name a class that does not exist. */
interface RuleScope {
  readonly judged: Judged;
  readonly onlyPersonal: boolean;
}

/** The broken rules, the first of each list, and the message about the first of all; empty if none is broken. */
function violation({ judged, onlyPersonal }: RuleScope): readonly CelVariable[] {
  const scope = { judged, mayBeUnknown: onlyPersonal, quotaLabel: QUOTA_LABEL };
  const rules = celRules(scope);
  const labels = judged === 'pod' ? [celLabelRule(scope)] : [];
  return [
    celVariable(
      'broken',
      'variables.held.map(rules, rules.filter(rule,',
      `  ${onlyPersonal ? 'rule.isPersonal && ' : ''}(${[...rules, ...labels].map(({ fault }) => fault).join(' ||\n    ')})`,
      ')).filter(rules, size(rules) > 0).map(rules, rules[0])',
    ),
    // A template may name anything, and each `+` copies all that is longer than any class.
    celVariable(
      'shownClass',
      `'priority class \`' + (size(variables.className) <= ${MAX_NAME_LENGTH} ? variables.className :`,
      `  variables.className.substring(0, ${MAX_NAME_LENGTH}) + '…') + '\`'`,
    ),
    celVariable('shownPods', "variables.className == '' ? 'pods without a priority class' : variables.shownClass"),
    celVariable('shownPod', "variables.className == '' ? 'a pod without a priority class' : variables.shownClass"),
    celVariable(
      'violation',
      "size(variables.broken) == 0 ? '' :",
      `${first('broken')}.map(rule, rule.messagePrefix + (`,
      `${firstSentence([...labels, ...rules])})`,
      ')[0]',
    ),
  ];
}

/** The rules in the order in which the webhook reports violations; the rule of a quota judges only pods. */
function celRules(scope: CelScope): readonly CelRule[] {
  return RULES_FOR[scope.judged].map(({ cel }) => cel(scope));
}

/** What the first broken rule says. A sentence that is itself a choice comes last, so its fault is negated. */
function firstSentence([rule, ...others]: readonly CelRule[]): string {
  if (rule === undefined) return "''";
  const { fault, sentence, isChoice = false } = rule;
  if (others.length === 0) return sentence;
  if (!isChoice) return `  ${fault} ?\n${sentence} :\n${firstSentence(others)}`;
  const other = others.length === 1 ? firstSentence(others) : `(${firstSentence(others)})`;
  return `  !${fault} ?\n${other}\n:\n${sentence}`;
}

/** For a pod, whose class, number and preemption policy are final. */
export const POD_RULE_VARIABLES: readonly CelVariable[] = [
  ...heldRules("object.spec.?serviceAccountName.orValue('default')"),
  ...RULED_POD,
  ...NAMED_CLASS,
  ...chosenClass('given', { withoutPersonal: false }),
  celVariable('priority', 'object.spec.?priority.orValue(0)'),
  celVariable('preemptionPolicy', "object.spec.?preemptionPolicy.orValue('PreemptLowerPriority')"),
  ...SPARE_VARIABLES,
  ...violation({ judged: 'pod', onlyPersonal: false }),
  celVariable('spareFault', ...CEL_SPARE_FAULT),
];

/**
 * For the template of a workload: rules for persons judge the class that its pods will get once a controller creates
 * them, when only the other rules apply defaults and substitutes.
 */
export const TEMPLATE_RULE_VARIABLES: readonly CelVariable[] = [
  celVariable(
    'podSpec',
    'object.spec.?jobTemplate.?spec.?template.?spec.orValue(object.spec.?template.?spec.orValue({}))',
  ),
  ...heldRules("variables.podSpec.?serviceAccountName.orValue('default')"),
  ...RULED_TEMPLATE,
  celVariable('named', "variables.podSpec.?priorityClassName.orValue('')"),
  ...chosenClass('className', { withoutPersonal: true }),
  celVariable('isKnown', "variables.className == '' || variables.className in params.spec.classes"),
  celVariable(
    'priority',
    'variables.className in params.spec.classes ? params.spec.classes[variables.className].value : 0',
  ),
  celVariable(
    'preemptionPolicy',
    'variables.className in params.spec.classes ?',
    "params.spec.classes[variables.className].preemptionPolicy : 'PreemptLowerPriority'",
  ),
  ...violation({ judged: 'template', onlyPersonal: true }),
];

/** Rules for service accounts judge pods by the account that they run as, which a group does not name. */
export const NO_ACCOUNT = "''";

/** For a group of pods that the scheduler places together (`PodGroup`), whose number is final. */
export const POD_GROUP_RULE_VARIABLES: readonly CelVariable[] = [
  ...heldRules(NO_ACCOUNT),
  celVariable('className', CLASS_OF_POD),
  celVariable('priority', 'object.spec.?priority.orValue(0)'),
  ...violation({ judged: 'group', onlyPersonal: false }),
];

const GROUP_TEMPLATES: CelScope = { judged: 'group', mayBeUnknown: true, quotaLabel: QUOTA_LABEL };

/**
 * For the groups that a controller will create from a `Workload`, when rules for persons no longer apply: the first
 * class that breaks one of them is reported.
 */
export const WORKLOAD_RULE_VARIABLES: readonly CelVariable[] = [
  ...heldRules(NO_ACCOUNT),
  celVariable('templates', 'object.spec.?podGroupTemplates.orValue(null)'),
  celVariable(
    'names',
    'variables.templates == null ? [] : variables.templates',
    "  .map(template, template.?priorityClassName.orValue('')).filter(name, name != '')",
  ),
  celVariable(
    'personal',
    'variables.held.map(rules, rules.filter(rule, rule.isPersonal)).filter(rules, size(rules) > 0)',
  ),
  celVariable(
    'forbidden',
    'variables.names.filter(name, variables.personal.exists(rules, rules.exists(rule,',
    `  ${celRules(GROUP_TEMPLATES)
      .map(({ fault }) => ofName(fault))
      .join(' ||\n  ')})))`,
  ),
  celVariable('className', "size(variables.forbidden) == 0 ? '' : variables.forbidden[0]"),
  celVariable('isKnown', 'variables.className in params.spec.classes'),
  celVariable('priority', 'variables.isKnown ? params.spec.classes[variables.className].value : 0'),
  ...violation({ judged: 'group', onlyPersonal: true }),
];

/** A violation of the class in a loop variable, in place of the judged class. */
function ofName(fault: string): string {
  return fault
    .replaceAll('variables.className', 'name')
    .replaceAll('variables.isKnown', '(name in params.spec.classes)')
    .replaceAll('variables.priority', 'params.spec.classes[name].value');
}

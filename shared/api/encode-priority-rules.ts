import { POLICY_RULES } from '#shared/domain/admission/policy-rules.ts';
import type { PriorityClass } from '#shared/domain/priority/classes-and-policies.ts';
import type {
  GivenByRule,
  LabelTest,
  PriorityRule,
  Receivers,
  RuleIndex,
  RuleSet,
  RuleSubjects,
  UnplacedRule,
} from '#shared/domain/priority-rules/priority-rules.ts';
import type { PriorityScope } from '#shared/domain/quota/priority-quota.ts';

/** Precedes a sentence that would be a refusal if the webhook were not in dry run. */
const DRY_RUN_PREFIX = '(dry run) ';

/** The `spec` of a PriorityRules object: what the expressions of admission-policies.ts read. */
export function encodePriorityRules({ rules, byLabel, everywhere, classes, receivers, ...set }: RuleSet): object {
  const globalDefault = classes.find(({ isGlobalDefault }) => isGlobalDefault);
  return {
    rules: rules.map(encodeRule),
    byLabel: encodeIndex(byLabel),
    everywhere,
    groups: presence(rules.flatMap(({ subjects }) => subjects?.groups ?? [])),
    classNames: classes.map(({ name }) => name),
    classes: Object.fromEntries(classes.map(encodeClass)),
    globalDefault: globalDefault?.name ?? '',
    checkQosClass: set.checksQosClass,
    messagePrefix: set.isDryRun ? DRY_RUN_PREFIX : '',
    ...(receivers !== undefined && { receivers: encodeReceivers(receivers) }),
  };
}

function encodeReceivers({ classNames, schedulers }: Receivers): object {
  return { priorityClassNames: presence([...classNames]), schedulers };
}

/** How many bytes a rule takes in storage; the API server writes some characters as six. */
export function storedBytes(rule: UnplacedRule, tests: readonly LabelTest[]): number {
  const { groups = [] } = rule.subjects ?? {};
  const text = JSON.stringify([encodeRule({ ...rule, order: 0, requirements: tests }), presence(groups)]);
  return (
    Buffer.byteLength(text) +
    BYTES_OF_NUMBERS * (1 + rule.gives.length) +
    5 * (text.match(/[<>&\u2028\u2029]/g)?.length ?? 0)
  );
}

/** Bytes of the rule itself, of its entry in the list of rules that apply everywhere, and of what it sets. */
const BYTES_OF_NUMBERS = 16;

function encodeRule(rule: PriorityRule): object {
  const { policy, order, requirements, subjects, substitutes, gives } = rule;
  return {
    policy,
    order,
    namespaceLabels: requirements.map(encodeTest),
    ...(subjects !== undefined && { subjects: encodeSubjects(subjects) }),
    isPersonal: rule.isPersonal,
    ...(Object.assign({}, ...POLICY_RULES.map(({ compiled }) => compiled?.(rule))) as object),
    ...(gives.length > 0 && { gives: gives.map((each) => encodeGiven(each, order)) }),
    ...(rule.mustBeGiven && { mustBeGiven: true }),
    ...(rule.counted !== undefined && encodeCounted(rule.counted)),
    substitutePriorityClassNames: Object.fromEntries(substitutes),
    ...(rule.schedulerName !== undefined && { schedulerName: rule.schedulerName }),
    messagePrefix: rule.isDryRun ? DRY_RUN_PREFIX : '',
  };
}

function encodeTest({ key, values, is }: LabelTest): object {
  return { key, is, ...(values !== undefined && { values }) };
}

function encodeGiven({ className, rank, podLabels, ownerKinds, record }: GivenByRule, order: number): object {
  return {
    priorityClassName: className,
    ...(rank !== undefined && { rank }),
    ...(podLabels.length > 0 && { podLabels: podLabels.map(encodeTest) }),
    ...(ownerKinds.length > 0 && { ownerKinds }),
    ...(record !== undefined && { record, order }),
  };
}

function encodeCounted(scope: PriorityScope): object {
  if (scope.kind === 'range') return { countedPriority: { min: scope.min, max: scope.max } };
  return { countedPriorityClassNames: [...scope.names] };
}

function encodeSubjects({ users, groups, serviceAccounts }: RuleSubjects): object {
  return { users, groups: presence(groups), serviceAccounts };
}

function encodeClass({ name, value, preemptionPolicy }: PriorityClass): readonly [string, object] {
  return [name, { value, preemptionPolicy }];
}

function encodeIndex(byLabel: RuleIndex): object {
  return Object.fromEntries(Array.from(byLabel, ([key, values]) => [key, Object.fromEntries(values)]));
}

/** A set of names as CEL looks one up in constant time. */
function presence(names: readonly string[]): Readonly<Record<string, true>> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

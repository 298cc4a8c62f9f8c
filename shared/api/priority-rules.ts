import { z } from 'zod';
import type { CompiledLimits } from '#shared/domain/admission/policy-rule.ts';
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
import { type CrdWords, described } from './schema/crd-words.ts';

/*
 * PriorityRules: what the expressions of the API server read (shared/kube/admission/rule-expressions.ts). The API server
 * drops fields that are not here, and then only the webhook enforces the rule.
 */

const ATOMIC = { 'x-kubernetes-list-type': 'atomic' } as const satisfies CrdWords;
const SET = { 'x-kubernetes-map-type': 'atomic' } as const satisfies CrdWords;
const MAX_RULES = 10_000;
const MAX_NAMES = 64;

function text(description: string, max = 253) {
  return described(z.string().max(max), description);
}

function priority(description: string) {
  return described(z.int32(), description, { format: 'int32' });
}

function flag(description: string) {
  return described(z.boolean(), description);
}

function position(description?: string) {
  return described(z.int().min(0), description);
}

function list<S extends z.ZodType>(item: S, max: number, description: string) {
  return described(z.array(item).max(max).readonly(), description, ATOMIC);
}

function names(description: string, max = MAX_NAMES, longest = 253) {
  return list(z.string().max(longest), max, description);
}

/** A set of names as CEL looks one up in constant time: each with the value true. */
function nameSet(description: string, words: CrdWords = {}) {
  return described(z.record(z.string(), z.boolean()), description, { ...SET, ...words });
}

function labelTests(of: string, description: string) {
  const test = z.object({
    key: text('Label key.', 317),
    is: flag(`Whether the ${of} must have the label with one of the values, or must not have it.`),
    values: names('Values of the label. If empty, any value matches.', 256, 63).optional(),
  });
  return list(test, 128, description);
}

const GIVEN = z.object({
  priorityClassName: text('Class of these pods.'),
  rank: position('Position of the class in classNames.').optional(),
  podLabels: labelTests('pod', 'Requirements on the labels of the pod.').optional(),
  ownerKinds: names('Kinds of the controller that owns the pod. If absent, every pod is taken.', 16, 63).optional(),
  record: text('Value of the annotation plimsoll.dev/class-rule, in `plimsoll-defaults`.', 317).optional(),
  order: position('Position of the rule, in `plimsoll-defaults`.').optional(),
});

const LIMITS = {
  allowedPriorityClassNames: names('Classes that pods may use. If absent, every class is allowed.').optional(),
  allowedText: text('Allowed classes as text, for messages.', 4_000).optional(),
  maxPriority: priority('Highest priority that pods may have.').optional(),
  preemption: described(z.enum(['Allow', 'Never']), 'Never: pods may use only classes that do not preempt.'),
  requireQuotaFor: names(
    'Classes that pods may use only in namespaces with the label plimsoll.dev/priority-quota=enforced.',
  ).optional(),
  runOn: described(
    z.enum(['Spare', 'Either']).optional(),
    'Spare: pods run in spare room. Either: pods that ask for it do.',
  ),
  sparePriorityClassNames: names('Classes that runOn is for. If absent, every class.').optional(),
} satisfies Readonly<Record<keyof CompiledLimits, z.ZodType>>;

const RULE = described(
  z.object({
    policy: described(z.string().min(1).max(253), 'Name of the PriorityPolicy or PriorityQuota.'),
    order: position('Position of this rule in the list.'),
    namespaceLabels: labelTests(
      'namespace',
      'Requirements on the labels of the namespace, in addition to the indexed label.',
    ),
    subjects: described(
      z.object({
        users: names('User names.'),
        groups: nameSet('Group names, each with the value true.', { maxProperties: MAX_NAMES }),
        serviceAccounts: names('User names of service accounts.', MAX_NAMES, 400),
      }),
      'Users, groups and service accounts that the rule applies to. If absent, it applies to everyone.',
    ).optional(),
    isPersonal: flag('Whether the rule names users or groups, and therefore applies to pod templates.'),
    ...LIMITS,
    gives: list(GIVEN, 17, 'Classes for pods without one. The first entry that takes a pod applies.').optional(),
    mustBeGiven: flag('Whether pods that were not given their class are refused.').optional(),
    countedPriorityClassNames: names(
      'Classes whose pods a PriorityQuota counts. They are refused in namespaces without the label plimsoll.dev/priority-quota=enforced.',
    ).optional(),
    countedPriority: described(
      z.object({ min: priority('Lowest priority.'), max: priority('Highest priority.') }),
      'The same by a range of priorities, both ends included.',
    ).optional(),
    substitutePriorityClassNames: described(
      z.record(z.string(), z.string().max(253)),
      'Substitute for each class that preempts. Pods that name the class get the substitute.',
      { ...SET, maxProperties: MAX_NAMES },
    ),
    schedulerName: text('Scheduler of pods that name none.').optional(),
    messagePrefix: text('Prefix of every message about this rule.', 20),
  }),
  undefined,
  {
    'x-kubernetes-validations': [
      {
        rule: 'has(self.allowedPriorityClassNames) == has(self.allowedText)',
        message: 'allowedText must be set with allowedPriorityClassNames, and only then',
      },
    ],
  },
);

export const PRIORITY_RULES_SPEC = described(
  z.object({
    rules: list(RULE, MAX_RULES, 'Rules compiled from the PriorityPolicies, in order of their names.'),
    byLabel: described(
      z.record(z.string(), z.record(z.string(), described(z.array(position()).readonly(), undefined, ATOMIC))),
      'Positions of the rules that apply to namespaces with a label, by label key and value.',
      { ...SET, maxProperties: MAX_NAMES },
    ),
    everywhere: list(position(), MAX_RULES, 'Positions of the rules that no label indexes.'),
    groups: nameSet('All groups that rules name, each with the value true.'),
    classNames: described(
      z.array(z.string().max(253)).readonly(),
      'Priority classes, ordered by value and name; in `plimsoll-defaults` those that its rules name, else all, or none if no rule applies to pod templates.',
      ATOMIC,
    ),
    classes: described(
      z.record(
        z.string(),
        z.object({
          value: priority('Priority of pods of this class.'),
          preemptionPolicy: text('Preemption policy of pods of this class.', 63),
        }),
      ),
      'The same classes, by name.',
      SET,
    ),
    globalDefault: text('Global default class. Empty if there is none.'),
    receivers: described(
      z.object({
        priorityClassNames: nameSet('Classes that a rule replaces, each with the value true.'),
        schedulers: flag('Whether a rule gives a scheduler.'),
        spareClassNames: nameSet(
          'Classes whose pods a rule may move to spare room, each with the value true; `*` for every class.',
        ).optional(),
      }),
      'Pods that these rules may give something to, besides those without a class.',
    ).optional(),
    checkQosClass: flag('Whether status.qosClass of created pods is checked.'),
    checkSpareRoom: described(
      z.boolean().default(false),
      'Whether pods may request spare room only where a rule with runOn allows it.',
    ),
    messagePrefix: text('Prefix of the message about status.qosClass.', 20),
  }),
  'Rules, and an index of them by namespace label.',
);

type Spec = z.input<typeof PRIORITY_RULES_SPEC>;
type Rule = z.input<typeof RULE>;
type Given = z.input<typeof GIVEN>;

/** Precedes a sentence that would be a refusal if the webhook were not in dry run. */
const DRY_RUN_PREFIX = '(dry run) ';

/** The `spec` of a PriorityRules object. */
export function encodePriorityRules({ rules, byLabel, everywhere, classes, receivers, ...set }: RuleSet): Spec {
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
    checkSpareRoom: set.checksSpareRoom,
    messagePrefix: set.isDryRun ? DRY_RUN_PREFIX : '',
    ...(receivers !== undefined && { receivers: encodeReceivers(receivers) }),
  };
}

function encodeReceivers({ classNames, schedulers, spareClassNames }: Receivers): NonNullable<Spec['receivers']> {
  return { priorityClassNames: presence([...classNames]), schedulers, spareClassNames: presence([...spareClassNames]) };
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

function encodeRule(rule: PriorityRule): Rule {
  const { policy, order, requirements, subjects, substitutes, gives } = rule;
  return {
    policy,
    order,
    namespaceLabels: requirements.map(encodeTest),
    ...(subjects !== undefined && { subjects: encodeSubjects(subjects) }),
    isPersonal: rule.isPersonal,
    ...(Object.assign({}, ...POLICY_RULES.map(({ compiled }) => compiled?.(rule))) as CompiledLimits),
    ...(gives.length > 0 && { gives: gives.map((each) => encodeGiven(each, order)) }),
    ...(rule.mustBeGiven && { mustBeGiven: true }),
    ...(rule.counted !== undefined && encodeCounted(rule.counted)),
    substitutePriorityClassNames: Object.fromEntries(substitutes),
    ...(rule.schedulerName !== undefined && { schedulerName: rule.schedulerName }),
    messagePrefix: rule.isDryRun ? DRY_RUN_PREFIX : '',
  };
}

function encodeTest({ key, values, is }: LabelTest): Rule['namespaceLabels'][number] {
  return { key, is, ...(values !== undefined && { values }) };
}

function encodeGiven({ className, rank, podLabels, ownerKinds, record }: GivenByRule, order: number): Given {
  return {
    priorityClassName: className,
    ...(rank !== undefined && { rank }),
    ...(podLabels.length > 0 && { podLabels: podLabels.map(encodeTest) }),
    ...(ownerKinds.length > 0 && { ownerKinds }),
    ...(record !== undefined && { record, order }),
  };
}

function encodeCounted(scope: PriorityScope): Pick<Rule, 'countedPriority' | 'countedPriorityClassNames'> {
  if (scope.kind === 'range') return { countedPriority: { min: scope.min, max: scope.max } };
  return { countedPriorityClassNames: [...scope.names] };
}

function encodeSubjects({ users, groups, serviceAccounts }: RuleSubjects): NonNullable<Rule['subjects']> {
  return { users, groups: presence(groups), serviceAccounts };
}

function encodeClass({ name, value, preemptionPolicy }: PriorityClass): readonly [string, Spec['classes'][string]] {
  return [name, { value, preemptionPolicy }];
}

function encodeIndex(byLabel: RuleIndex): Spec['byLabel'] {
  return Object.fromEntries(Array.from(byLabel, ([key, values]) => [key, Object.fromEntries(values)]));
}

/** A set of names as CEL looks one up in constant time. */
function presence(names: readonly string[]): Readonly<Record<string, true>> {
  return Object.fromEntries(names.map((name) => [name, true]));
}

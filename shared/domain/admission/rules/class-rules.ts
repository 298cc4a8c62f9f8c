/*
 * Which class pods must have: the one that a policy gives (defaultPriorityClassName, classRules), one of those that it
 * allows (allowedPriorityClassNames), and none above its ceiling (maxPriority).
 */
import type { Because } from '#shared/domain/base/because.ts';
import type { ClusterState } from '#shared/domain/admission/cluster-state.ts';
import { chooseClass, namedClass } from '#shared/domain/admission/decide-mutation.ts';
import { type Message, reasonOf } from '#shared/domain/admission/decision.ts';
import {
  classNamed,
  type GivenClass,
  listClasses,
  missing,
  type NamedClass,
  type OfPolicy,
  PHRASES,
  podOf,
  podsOf,
} from '#shared/domain/admission/messages/priority-messages.ts';
import {
  CEL_POLICY,
  celOrUnknown,
  celPriority,
  type PolicyPair,
  type PolicyReviewer,
  type PolicyRule,
} from '#shared/domain/admission/policy-rule.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import {
  classByRule,
  type ClassRule,
  defaultClass,
  policiesFor,
  type PriorityPolicy,
  rulesOf,
} from '#shared/domain/priority/classes-and-policies.ts';

/** The highest priority that a policy allows. */
interface Ceiling {
  readonly maxPriority: number;
}

export const CLASS_RULE_MESSAGES = {
  defaultNotGiven: {
    code: 'DefaultNotGiven',
    status: 403,
    text: (v: NamedClass & OfPolicy) =>
      `policy \`${v.policy}\` gives pods here ${classNamed(v.priorityClassName)}, ${PHRASES.defaultNotGiven()}`,
  },
  classNotAllowed: {
    code: 'ClassNotAllowed',
    status: 403,
    text: (v: NamedClass & OfPolicy & { readonly allowed: readonly string[] }) =>
      `policy \`${v.policy}\` does not allow ${podsOf(v)} here; allowed: ${listClasses(v.allowed)}`,
  },
  priorityAboveCeiling: {
    code: 'PriorityAboveCeiling',
    status: 403,
    text: (v: GivenClass & OfPolicy & Ceiling) =>
      `policy \`${v.policy}\` allows a priority of at most ${v.maxPriority} here; ${podOf(v)} has ${v.priority}`,
  },
  missingClassUnderCeiling: {
    code: 'PriorityAboveCeiling',
    status: 403,
    text: (v: NamedClass & OfPolicy & Ceiling) =>
      `policy \`${v.policy}\` allows a priority of at most ${v.maxPriority} here; ${missing(v)}`,
  },
} as const satisfies Record<string, Message<never>>;

/**
 * A pod that was created without a class must have the one that the policy gives: the mutating entry ignores failures,
 * so a caller who can delay its answer could choose priority 0, or the global default.
 */
export const DEFAULT_RULE: PolicyRule = {
  judges: ['pod'],
  isSet: (policy) => rulesOf(policy).length > 0,
  breaks: breaksDefaultRule,
  cel: () => ({
    // The class that rules set is known in a set with the global default. Without that default, none was filled in.
    fault: `(has(rule.mustBeGiven) && (variables.className == '' || (variables.isFilledIn && variables.className != variables.given)) && has(rule.gives) && rule.gives.exists(each, ${TAKES_POD}))`,
    sentence: [
      `    ${CEL_POLICY} + 'gives pods here priority class \`' + rule.gives.filter(each, ${TAKES_POD})[0].priorityClassName +`,
      `      '\`, ${PHRASES.defaultNotGiven()}'`,
    ].join('\n'),
  }),
  problems: (policy, review) => [
    ...defaultProblems(policy, review),
    ...policy.classRules.flatMap((rule) => ruleProblems(rule, review)),
  ],
  conflicts: (pair) => [...differentDefaults(pair), ...refusedGifts(pair)],
};

/** Whether a default of a rule, named `each`, applies to the pod. */
export const TAKES_POD = [
  '(!has(each.ownerKinds) || variables.ownerKind in each.ownerKinds) &&',
  '(!has(each.podLabels) || each.podLabels.all(test, test.is ==',
  '  (test.key in variables.podLabels && (!has(test.values) || variables.podLabels[test.key] in test.values))))',
].join('\n');

/** A rule whose class does not exist gives none. */
function breaksDefaultRule(request: PodRequest, policy: PriorityPolicy, cluster: ClusterState): Because | undefined {
  const { classes } = cluster;
  const { labels } = request.pod;
  const given = classByRule(policy, { labels, ownerKind: request.ownerKind }, classes)?.given;
  if (given === undefined || namedClass(request, defaultClass(classes)) !== undefined) return undefined;
  const { fields } = chooseClass(request, policiesFor(request, cluster), classes);
  const { namespace, spec } = request.pod;
  if ((spec.priorityClassName ?? '') === fields.priorityClassName) return undefined;
  const facts = { policy: policy.name, namespace, priorityClassName: given.name };
  return reasonOf(CLASS_RULE_MESSAGES.defaultNotGiven, facts, facts);
}

function defaultProblems(
  { defaultClassName: name }: PriorityPolicy,
  { classes, whyRefused }: PolicyReviewer,
): readonly string[] {
  if (name === undefined) return [];
  const given = classes.get(name);
  if (given === undefined) return [`defaultPriorityClassName: there is no class \`${name}\``];
  const why = whyRefused(given);
  return why === undefined
    ? []
    : [`defaultPriorityClassName: class \`${name}\` ${why}: pods without a class are refused`];
}

function ruleProblems(rule: ClassRule, { classes, whyRefused }: PolicyReviewer): readonly string[] {
  const { className, pods } = rule;
  const path = pathOf(rule);
  const given = classes.get(className);
  const why = given === undefined ? undefined : whyRefused(given);
  return [
    ...(given === undefined ? [`${path}.priorityClassName: there is no class \`${className}\``] : []),
    ...(why === undefined
      ? []
      : [`${path}.priorityClassName: class \`${className}\` ${why}: pods that get it are refused`]),
    ...(pods.requirements === undefined ? [`${path}.podSelector: it selects no pod`] : []),
  ];
}

function pathOf({ name }: ClassRule): string {
  return `classRules[${name}]`;
}

/** The class with the lower value wins; among equal ones the first by name. */
function differentDefaults({ policy, other, classes }: PolicyPair): readonly string[] {
  const [own, theirs] = [policy, other].map(({ defaultClassName }) => classes.get(defaultClassName ?? ''));
  if (own === undefined || theirs === undefined || own.name === theirs.name) return [];
  const wins = own.value < theirs.value || (own.value === theirs.value && own.name < theirs.name);
  return [
    `policy \`${other.name}\` gives default class \`${theirs.name}\`; the lower one, \`${(wins ? own : theirs).name}\`, counts`,
  ];
}

/** What this policy sets and the other refuses: by its default, and by its rules. */
function refusedGifts({ policy, other, classes, isRefusedByOther }: PolicyPair): readonly string[] {
  const gifts = [
    { className: policy.defaultClassName, by: 'the default of this one' },
    ...policy.classRules.map((rule) => ({ className: rule.className, by: `which ${pathOf(rule)} gives` })),
  ];
  return gifts.flatMap(({ className = '', by }) => {
    const given = classes.get(className);
    return given !== undefined && isRefusedByOther(given)
      ? [`policy \`${other.name}\` does not allow class \`${className}\`, ${by}: pods that get it are refused`]
      : [];
  });
}

/** Only some classes are allowed. A pod without a class has priority 0 and no class name. */
export const ALLOWED_CLASSES_RULE: PolicyRule = {
  judges: ['pod', 'template', 'group'],
  isSet: ({ allowedClassNames }) => allowedClassNames !== undefined,
  breaks: breaksAllowedClasses,
  breaksUnknown: breaksAllowedClasses,
  compiled: ({ allowedClassNames: allowed }) =>
    allowed === undefined ? {} : { allowedPriorityClassNames: allowed, allowedText: listClasses(allowed) },
  cel: () => ({
    fault: '(has(rule.allowedPriorityClassNames) && !(variables.className in rule.allowedPriorityClassNames))',
    sentence: `    ${CEL_POLICY} + 'does not allow ' + variables.shownPods + ' here; allowed: ' + rule.allowedText`,
  }),
  refuses: ({ name }, { allowedClassNames }) =>
    allowedClassNames?.includes(name) === false ? 'is not among allowedPriorityClassNames' : undefined,
  problems: ({ allowedClassNames = [] }, { classes, whyRefused }) =>
    allowedClassNames.flatMap((name) => {
      const path = 'allowedPriorityClassNames';
      const allowed = classes.get(name);
      if (allowed === undefined) return [`${path}: there is no class \`${name}\``];
      const why = whyRefused(allowed);
      return why === undefined ? [] : [`${path}: class \`${name}\` ${why}`];
    }),
  conflicts: differentLists,
};

function breaksAllowedClasses({ pod }: PodRequest, policy: PriorityPolicy): Because | undefined {
  const { priorityClassName = '', priority = 0 } = pod.spec;
  const { name, allowedClassNames: allowed } = policy;
  if (allowed === undefined || allowed.includes(priorityClassName)) return undefined;
  const facts = { policy: name, namespace: pod.namespace, priorityClassName, priority };
  return reasonOf(CLASS_RULE_MESSAGES.classNotAllowed, { ...facts, allowed }, facts);
}

function differentLists({ policy, other }: PolicyPair): readonly string[] {
  const [own, theirs] = [policy.allowedClassNames, other.allowedClassNames];
  if (own === undefined || theirs === undefined) return [];
  const both = own.filter((name) => theirs.includes(name));
  if (both.length === own.length && both.length === theirs.length) return [];
  return both.length === 0
    ? [`policy \`${other.name}\` allows none of the classes that this one allows: where both hold, no pod is let in`]
    : [
        `policy \`${other.name}\` allows other classes; where both hold, only ${both.map((name) => `\`${name}\``).join(', ')}`,
      ];
}

/** No priority above a ceiling. */
export const CEILING_RULE: PolicyRule = {
  judges: ['pod', 'template', 'group'],
  isSet: ({ maxPriority }) => maxPriority !== undefined,
  breaks: ({ pod }, { name: policy, maxPriority }) => {
    const { priorityClassName = '', priority = 0 } = pod.spec;
    if (maxPriority === undefined || priority <= maxPriority) return undefined;
    const facts = { policy, namespace: pod.namespace, priorityClassName, priority, maxPriority };
    return reasonOf(CLASS_RULE_MESSAGES.priorityAboveCeiling, facts, facts);
  },
  breaksUnknown: ({ pod: { namespace, spec } }, { name: policy, maxPriority }) => {
    if (maxPriority === undefined) return undefined;
    const facts = { policy, namespace, priorityClassName: spec.priorityClassName ?? '', maxPriority };
    return reasonOf(CLASS_RULE_MESSAGES.missingClassUnderCeiling, facts, facts);
  },
  compiled: ({ maxPriority }) => (maxPriority === undefined ? {} : { maxPriority }),
  cel: (scope) => ({
    fault: `(has(rule.maxPriority) && ${celOrUnknown(scope, 'variables.priority > rule.maxPriority')})`,
    sentence: [
      `    ${CEL_POLICY} + 'allows a priority of at most ' + string(rule.maxPriority) + ' here; ' +`,
      `      ${celPriority(scope)}`,
    ].join('\n'),
  }),
  refuses: ({ value }, { maxPriority }) =>
    maxPriority !== undefined && value > maxPriority ? `(${value}) is above maxPriority ${maxPriority}` : undefined,
  conflicts: ({ policy: { maxPriority: own }, other: { name, maxPriority: theirs } }) =>
    own === undefined || theirs === undefined || own === theirs
      ? []
      : [`policy \`${name}\` has maxPriority ${theirs}; the lower one, ${Math.min(own, theirs)}, counts`],
};

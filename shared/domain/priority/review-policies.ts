import { PREEMPT_NEVER, type PriorityClass, type PriorityClasses } from './priority-class.ts';
import type { PriorityPolicy } from './priority-policy.ts';

/** What an administrator should know about a policy, in sentences. */
export interface PolicyReview {
  readonly policy: string;
  /** Settings that can never take effect, or that keep everybody out. */
  readonly ineffective: readonly string[];
  /** Other policies that hold for the same pods and say something else, and which of both wins. */
  readonly conflicts: readonly string[];
}

export interface PolicySurroundings {
  readonly policies: readonly PriorityPolicy[];
  readonly classes: PriorityClasses;
  /** Labels of every namespace. */
  readonly namespaces: readonly ReadonlyMap<string, string>[];
}

/** Looks every policy through, against the classes, namespaces and policies there are. */
export function reviewPolicies({ policies, classes, namespaces }: PolicySurroundings): readonly PolicyReview[] {
  return policies.map((policy) => ({
    policy: policy.name,
    ineffective: [
      ...defaultProblems(policy, classes),
      ...missingClasses(policy, classes),
      ...substituteProblems(policy, classes),
      ...selectionProblems(policy, namespaces),
    ],
    conflicts: policies.flatMap((other) =>
      other !== policy && holdTogether(policy, other, namespaces) ? conflictsBetween(policy, other, classes) : [],
    ),
  }));
}

function defaultProblems(policy: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const { defaultClassName: name } = policy;
  if (name === undefined) return [];
  const given = classes.get(name);
  if (given === undefined) return [`defaultPriorityClassName: there is no class \`${name}\``];
  const why = whyRefused(given, policy, classes);
  return why === undefined
    ? []
    : [`defaultPriorityClassName: class \`${name}\` ${why}: pods without a class are refused`];
}

function whyRefused(given: PriorityClass, policy: PriorityPolicy, classes: PriorityClasses): string | undefined {
  const { maxPriority, preemption, substitutes } = policy;
  if (maxPriority !== undefined && given.value > maxPriority)
    return `(${given.value}) is above maxPriority ${maxPriority}`;
  if (preemption === 'Allow' || given.preemptionPolicy === PREEMPT_NEVER) return undefined;
  const isReplaced = classes.get(substitutes.get(given.name) ?? '')?.preemptionPolicy === PREEMPT_NEVER;
  return isReplaced ? undefined : 'preempts, which preemption Never forbids';
}

function missingClasses(
  { allowedClassNames, requireQuotaFor }: PriorityPolicy,
  classes: PriorityClasses,
): readonly string[] {
  const missing = (allowedClassNames ?? []).filter((name) => !classes.has(name));
  const unusable = requireQuotaFor.filter((name) => !classes.has(name) || allowedClassNames?.includes(name) === false);
  return [
    ...missing.map((name) => `allowedPriorityClassNames: there is no class \`${name}\``),
    ...unusable.map((name) => `requireQuotaFor: class \`${name}\` can never be used here`),
  ];
}

function substituteProblems(
  { substitutes, allowedClassNames }: PriorityPolicy,
  classes: PriorityClasses,
): readonly string[] {
  return Array.from(substitutes).flatMap(([from, to]) => {
    const path = `substitutePriorityClassNames[${from}]`;
    const substitute = classes.get(to);
    if (substitute === undefined) return [`${path}: there is no class \`${to}\``];
    if (substitute.preemptionPolicy !== PREEMPT_NEVER) return [`${path}: class \`${to}\` preempts too`];
    if (classes.get(from)?.preemptionPolicy === PREEMPT_NEVER)
      return [`${path}: class \`${from}\` never preempts and is not replaced`];
    return allowedClassNames?.includes(to) === false
      ? [`${path}: class \`${to}\` is not among allowedPriorityClassNames`]
      : [];
  });
}

function selectionProblems(
  { namespaces: selector }: PriorityPolicy,
  namespaces: PolicySurroundings['namespaces'],
): readonly string[] {
  return namespaces.some((labels) => selector.matches(labels)) ? [] : ['namespaceSelector: no namespace is selected'];
}

/** Whether some pod could be judged by both. */
function holdTogether(a: PriorityPolicy, b: PriorityPolicy, namespaces: PolicySurroundings['namespaces']): boolean {
  const [subjects, others] = [a.subjects, b.subjects].map((list) => list.map((subject) => JSON.stringify(subject)));
  const isSomebody =
    a.subjects.length === 0 || b.subjects.length === 0 || subjects?.some((each) => others?.includes(each));
  return (
    isSomebody === true && namespaces.some((labels) => a.namespaces.matches(labels) && b.namespaces.matches(labels))
  );
}

function conflictsBetween(policy: PriorityPolicy, other: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  return [...defaultConflict(policy, other, classes), ...allowedConflict(policy, other)];
}

/** The class with the lower value wins, of equal ones the first by name. */
function defaultConflict(policy: PriorityPolicy, other: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const [own, theirs] = [policy, other].map(({ defaultClassName }) => classes.get(defaultClassName ?? ''));
  if (own === undefined || theirs === undefined || own.name === theirs.name) return [];
  const wins = own.value < theirs.value || (own.value === theirs.value && own.name < theirs.name);
  return [
    `policy \`${other.name}\` gives default class \`${theirs.name}\`; the lower one, \`${(wins ? own : theirs).name}\`, counts`,
  ];
}

function allowedConflict(policy: PriorityPolicy, other: PriorityPolicy): readonly string[] {
  const [own, theirs] = [policy.allowedClassNames, other.allowedClassNames];
  if (own === undefined || theirs === undefined || own.some((name) => theirs.includes(name))) return [];
  return [
    `policy \`${other.name}\` allows none of the classes that this one allows: where both hold, no pod is let in`,
  ];
}

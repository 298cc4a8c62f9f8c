import type { Steps } from '#shared/domain/base/steps.ts';
import {
  PREEMPT_NEVER,
  type PriorityClass,
  type PriorityClasses,
  type PriorityPolicy,
  type ClassRule,
} from './classes-and-policies.ts';
import type { Selector } from '#shared/domain/labels/label-selector.ts';

/** What an administrator should know about a policy, in sentences. */
export interface PolicyReview {
  readonly policy: string;
  /** Settings that can never take effect, or that refuse everyone. */
  readonly ineffective: readonly string[];
  /** Conflicts with other policies for the same pods, and which policy wins. */
  readonly conflicts: readonly string[];
}

interface PolicyContext {
  readonly policies: readonly PriorityPolicy[];
  readonly classes: PriorityClasses;
  /** Labels of every namespace. */
  readonly namespaces: readonly ReadonlyMap<string, string>[];
}

/** A policy with precomputed facts that are needed once for each other policy. */
interface PreparedPolicy {
  readonly policy: PriorityPolicy;
  readonly subjects: ReadonlySet<string>;
  readonly namespaces: SelectedItems;
}

/** Reviews every policy against the existing classes, namespaces and policies. */
export function* reviewPolicies(context: PolicyContext): Steps<readonly PolicyReview[]> {
  const { policies, classes, namespaces } = context;
  const prepared: PreparedPolicy[] = [];
  for (const policy of policies) {
    const subjects = new Set(policy.subjects.map((subject) => JSON.stringify(subject)));
    prepared.push({ policy, subjects, namespaces: yield* selectItems(policy.namespaces, namespaces) });
  }
  const reviews: PolicyReview[] = [];
  for (const each of prepared) {
    const conflicts = yield* conflictsOf(each, prepared, classes);
    reviews.push({ policy: each.policy.name, ineffective: problemsOf(each, classes), conflicts });
  }
  return reviews;
}

function problemsOf({ policy, namespaces }: PreparedPolicy, classes: PriorityClasses): readonly string[] {
  return [
    ...defaultProblems(policy, classes),
    ...policy.classRules.flatMap((rule) => ruleProblems(rule, policy, classes)),
    ...allowedProblems(policy, classes),
    ...quotaProblems(policy, classes),
    ...substituteProblems(policy, classes),
    ...(selectsAny(namespaces) ? [] : ['namespaceSelector: no namespace is selected']),
  ];
}

function* conflictsOf(
  own: PreparedPolicy,
  all: readonly PreparedPolicy[],
  classes: PriorityClasses,
): Steps<readonly string[]> {
  const conflicts: string[] = [];
  for (const other of all) {
    if (other !== own && holdTogether(own, other)) {
      for (const conflict of policyConflicts(own.policy, other.policy, classes)) conflicts.push(conflict);
    }
    yield;
  }
  return conflicts;
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

function ruleProblems(rule: ClassRule, policy: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const { className, pods } = rule;
  const path = pathOf(rule);
  const given = classes.get(className);
  const why = given === undefined ? undefined : whyRefused(given, policy, classes);
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

function allowedProblems(policy: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  return (policy.allowedClassNames ?? []).flatMap((name) => {
    const path = 'allowedPriorityClassNames';
    const allowed = classes.get(name);
    if (allowed === undefined) return [`${path}: there is no class \`${name}\``];
    const why = whyRefused(allowed, policy, classes);
    return why === undefined ? [] : [`${path}: class \`${name}\` ${why}`];
  });
}

function quotaProblems(policy: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const unusable = policy.requireQuotaFor.filter((name) => {
    const needing = classes.get(name);
    return needing === undefined || whyRefused(needing, policy, classes) !== undefined;
  });
  return unusable.map((name) => `requireQuotaFor: class \`${name}\` can never be used here`);
}

/** Why a pod that names this class would always be refused by this policy; its substitute is what is judged. */
function whyRefused(named: PriorityClass, policy: PriorityPolicy, classes: PriorityClasses): string | undefined {
  const { maxPriority, preemption, allowedClassNames } = policy;
  const given = preemption === 'Never' ? replaced(named, policy, classes) : named;
  const is = given === named ? '' : `is replaced by \`${given.name}\`, which `;
  if (allowedClassNames?.includes(given.name) === false) return `${is}is not among allowedPriorityClassNames`;
  if (maxPriority !== undefined && given.value > maxPriority)
    return `${is}(${given.value}) is above maxPriority ${maxPriority}`;
  const isForbidden = preemption === 'Never' && given.preemptionPolicy !== PREEMPT_NEVER;
  return isForbidden ? 'preempts, which preemption Never forbids' : undefined;
}

function replaced(named: PriorityClass, { substitutes }: PriorityPolicy, classes: PriorityClasses): PriorityClass {
  if (named.preemptionPolicy === PREEMPT_NEVER) return named;
  const substitute = classes.get(substitutes.get(named.name) ?? '');
  return substitute?.preemptionPolicy === PREEMPT_NEVER ? substitute : named;
}

function substituteProblems(policy: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const { substitutes, preemption } = policy;
  if (preemption === 'Allow' && substitutes.size > 0) {
    return ['substitutePriorityClassNames: nothing is replaced while preemption is Allow'];
  }
  return Array.from(substitutes).flatMap(([from, to]) => {
    const problem = substituteProblem(from, to, policy, classes);
    return problem === undefined ? [] : [`substitutePriorityClassNames[${from}]: ${problem}`];
  });
}

function substituteProblem(
  from: string,
  to: string,
  policy: PriorityPolicy,
  classes: PriorityClasses,
): string | undefined {
  const substitute = classes.get(to);
  if (substitute === undefined) return `there is no class \`${to}\``;
  if (substitute.preemptionPolicy !== PREEMPT_NEVER) return `class \`${to}\` preempts too`;
  const replacedClass = classes.get(from);
  if (replacedClass === undefined) return `there is no class \`${from}\``;
  if (replacedClass.preemptionPolicy === PREEMPT_NEVER) return `class \`${from}\` never preempts and is not replaced`;
  const why = whyRefused(substitute, policy, classes);
  return why === undefined ? undefined : `class \`${to}\` ${why}`;
}

/** Whether both could apply to the same pod; group membership is not known here. */
function holdTogether(a: PreparedPolicy, b: PreparedPolicy): boolean {
  return shareSubject(a.subjects, b.subjects) && selectAlike(a.namespaces, b.namespaces);
}

function shareSubject(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  return a.size === 0 || b.size === 0 || [...a].some((subject) => b.has(subject));
}

/** Two policies that apply to the same pods. */
interface Pair {
  readonly policy: PriorityPolicy;
  readonly other: PriorityPolicy;
  readonly classes: PriorityClasses;
}

/** Conflicts with another policy for the same pods, and which of both applies, in sentences. */
function policyConflicts(policy: PriorityPolicy, other: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  const pair = { policy, other, classes };
  return [...defaults(pair), ...refusedGifts(pair), ...allowedLists(pair), ...ceilings(pair), ...substitutes(pair)];
}

/** The class with the lower value wins; among equal ones the first by name. */
function defaults({ policy, other, classes }: Pair): readonly string[] {
  const [own, theirs] = [policy, other].map(({ defaultClassName }) => classes.get(defaultClassName ?? ''));
  if (own === undefined || theirs === undefined || own.name === theirs.name) return [];
  const wins = own.value < theirs.value || (own.value === theirs.value && own.name < theirs.name);
  return [
    `policy \`${other.name}\` gives default class \`${theirs.name}\`; the lower one, \`${(wins ? own : theirs).name}\`, counts`,
  ];
}

/** What this policy sets and the other refuses: by its default, and by its rules. */
function refusedGifts({ policy, other, classes }: Pair): readonly string[] {
  const given = [
    { className: policy.defaultClassName, by: 'the default of this one' },
    ...policy.classRules.map((rule) => ({ className: rule.className, by: `which ${pathOf(rule)} gives` })),
  ];
  return given
    .filter(({ className }) => isRefusedBy(other, classes.get(className ?? '')))
    .map(
      ({ className = '', by }) =>
        `policy \`${other.name}\` does not allow class \`${className}\`, ${by}: pods that get it are refused`,
    );
}

function isRefusedBy({ allowedClassNames, maxPriority }: PriorityPolicy, given: PriorityClass | undefined): boolean {
  if (given === undefined) return false;
  return allowedClassNames?.includes(given.name) === false || (maxPriority !== undefined && given.value > maxPriority);
}

function allowedLists({ policy, other }: Pair): readonly string[] {
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

function ceilings({ policy, other }: Pair): readonly string[] {
  const [own, theirs] = [policy.maxPriority, other.maxPriority];
  if (own === undefined || theirs === undefined || own === theirs) return [];
  return [`policy \`${other.name}\` has maxPriority ${theirs}; the lower one, ${Math.min(own, theirs)}, counts`];
}

/** If there are several substitutes for a class, that of the first policy by name is used. */
function substitutes({ policy, other, classes }: Pair): readonly string[] {
  if (policy.preemption === 'Allow' || other.preemption === 'Allow') return [];
  return Array.from(policy.substitutes).flatMap(([from, to]) => {
    const theirs = other.substitutes.get(from);
    const isUsable = [to, theirs].every((name) => classes.get(name ?? '')?.preemptionPolicy === PREEMPT_NEVER);
    if (theirs === undefined || theirs === to || !isUsable) return [];
    const counts = policy.name < other.name ? to : theirs;
    return [
      `policy \`${other.name}\` replaces class \`${from}\` by \`${theirs}\`; the first by name counts: \`${counts}\``,
    ];
  });
}

/** Which of a list of items were selected: one bit each, by index. */
type SelectedItems = Uint32Array;

const BITS = 32;
const ITEMS_PER_STEP = 200;

/** Matches a selector against the labels of every item, once. */
export function* selectItems(selector: Selector, labels: readonly ReadonlyMap<string, string>[]): Steps<SelectedItems> {
  const selected = new Uint32Array(Math.ceil(labels.length / BITS));
  for (const [index, each] of labels.entries()) {
    if (selector.matches(each)) mark(selected, index);
    if (index % ITEMS_PER_STEP === ITEMS_PER_STEP - 1) yield;
  }
  return selected;
}

function mark(selected: Uint32Array, index: number): void {
  const word = Math.floor(index / BITS);
  selected[word] = (selected[word] ?? 0) | (1 << (index % BITS));
}

/** Whether any item was selected. */
export function selectsAny(selected: SelectedItems): boolean {
  return selected.some((bits) => bits !== 0);
}

/** Whether any item of one list was selected by both. */
export function selectAlike(a: SelectedItems, b: SelectedItems): boolean {
  return a.some((bits, index) => (bits & (b[index] ?? 0)) !== 0);
}

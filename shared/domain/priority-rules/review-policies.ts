import type { Steps } from '#shared/domain/base/steps.ts';
import type { PolicyPair } from '#shared/domain/admission/policy-rule.ts';
import { POLICY_RULES } from '#shared/domain/admission/policy-rules.ts';
import {
  PREEMPT_NEVER,
  type PriorityClass,
  type PriorityClasses,
  type PriorityPolicy,
} from '#shared/domain/priority/classes-and-policies.ts';
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
  const reviewer = { classes, whyRefused: (named: PriorityClass) => whyRefused(named, policy, classes) };
  return [
    ...POLICY_RULES.flatMap(({ problems }) => problems?.(policy, reviewer) ?? []),
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

/** Why a pod that names this class would always be refused by this policy; its substitute is what is judged. */
function whyRefused(named: PriorityClass, policy: PriorityPolicy, classes: PriorityClasses): string | undefined {
  const given = policy.preemption === 'Never' ? replaced(named, policy, classes) : named;
  const [why] = refusalsOf(policy, given);
  return why === undefined || given === named ? why : `is replaced by \`${given.name}\`, which ${why}`;
}

function refusalsOf(policy: PriorityPolicy, given: PriorityClass): readonly string[] {
  return POLICY_RULES.flatMap(({ refuses }) => refuses?.(given, policy) ?? []);
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

/** Conflicts with another policy for the same pods, and which of both applies, in sentences. */
function policyConflicts(policy: PriorityPolicy, other: PriorityPolicy, classes: PriorityClasses): readonly string[] {
  // What preempts may get a substitute.
  const judging: PriorityPolicy = { ...other, preemption: 'Allow' };
  const isRefusedByOther = (given: PriorityClass): boolean => refusalsOf(judging, given).length > 0;
  const pair = { policy, other, classes, isRefusedByOther };
  return [...POLICY_RULES.flatMap(({ conflicts }) => conflicts?.(pair) ?? []), ...substitutes(pair)];
}

/** If there are several substitutes for a class, that of the first policy by name is used. */
function substitutes({ policy, other, classes }: PolicyPair): readonly string[] {
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

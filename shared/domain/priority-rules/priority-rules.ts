/*
 * PriorityPolicies in the form that the API server evaluates by itself, one object for all of them, so that rules about
 * classes hold while no webhook answers (docs/contributing/decisions/rules-in-api-server.md). Compiling is a pure function of
 * policies and classes; namespaces are matched by the API server, on the labels they have at that moment.
 */

import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import { POLICY_RULES } from '#shared/domain/admission/policy-rules.ts';
import {
  limitsOf,
  NO_LIMITS,
  type PolicyLimits,
  type PriorityClass,
  type PriorityClasses,
  isPersonal,
  type PriorityPolicy,
  type PolicySubject,
  rulesOf,
  serviceAccountUser,
} from '#shared/domain/priority/classes-and-policies.ts';
import type { PriorityScope, PriorityQuota } from '#shared/domain/quota/priority-quota.ts';

/**
 * A requirement on one label of a namespace: `is` says whether it must be present (with one of `values`, if given) or
 * absent.
 */
export interface LabelTest {
  readonly key: string;
  readonly values: readonly string[] | undefined;
  readonly is: boolean;
}

/**
 * The users and groups that a rule applies to, by name; service accounts as users:
 * `system:serviceaccount:NAMESPACE:NAME`.
 */
export interface RuleSubjects {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly serviceAccounts: readonly string[];
}

/** The compiled form of one policy, or of one quota that requires its label; it forbids nothing if another set does. */
export interface PriorityRule extends PolicyLimits {
  /** The name of the policy or quota. */
  readonly policy: string;
  /** Its position in the set: by name, quotas last, so that the first violation is always the same. */
  readonly order: number;
  /** Labels of the namespace in addition to the one by which the rule is found. */
  readonly requirements: readonly LabelTest[];
  /** `undefined` for everyone. */
  readonly subjects: RuleSubjects | undefined;
  /**
   * It names users or groups, which are known when a user writes a template but not when a controller creates its pods.
   */
  readonly isPersonal: boolean;
  /** What pods without a class get: from the first of these that matches the pod. */
  readonly gives: readonly GivenByRule[];
  /** Whether a pod that did not get it violates the rule. */
  readonly mustBeGiven: boolean;
  /** The pods that a quota counts: it requires its label on their namespace, and its rule contains nothing else. */
  readonly counted: PriorityScope | undefined;
  /** Empty unless the policy forbids preemption. */
  readonly substitutes: ReadonlyMap<string, string>;
  /** Set on pods that name no scheduler; only in the set of defaults. */
  readonly schedulerName: string | undefined;
  /** It would refuse, but only warns because the webhook is in dry run. */
  readonly isDryRun: boolean;
}

/** An existing class, and the pods that a policy gives it to. */
export interface GivenByRule {
  readonly className: string;
  /** Its number in `classes`, if the set has it; the lowest of several rules applies. */
  readonly rank: number | undefined;
  readonly podLabels: readonly LabelTest[];
  /** Kinds of the controller; empty matches every pod. */
  readonly ownerKinds: readonly string[];
  /** What is recorded on the pod; only in the set of defaults. */
  readonly record: string | undefined;
}

/** Numbers of rules by a label of the namespace, by key and value. */
export type RuleIndex = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;

/** The pods that a set applies to, so that the API server need not evaluate it for the others. */
export interface Receivers {
  /** Classes that a rule replaces. */
  readonly classNames: ReadonlySet<string>;
  /** Whether a rule sets a scheduler, so that pods of every class may get one. */
  readonly schedulers: boolean;
  /** Classes whose pods a rule may move to spare room; `*` for every class. */
  readonly spareClassNames: ReadonlySet<string>;
}

/**
 * All rules that refuse, all that warn, or all that set defaults. Every rule is listed either under one label or
 * everywhere.
 */
export interface RuleSet {
  readonly rules: readonly PriorityRule[];
  readonly byLabel: RuleIndex;
  readonly everywhere: readonly number[];
  /** In order of value and name: all of them if it matters which class a pod gets, else none. */
  readonly classes: readonly PriorityClass[];
  readonly checksQosClass: boolean;
  /** Whether pods may name spare room only where one of the rules grants it. */
  readonly checksSpareRoom: boolean;
  readonly isDryRun: boolean;
  /** Only for the set of defaults; its `classes` are those that its rules name. */
  readonly receivers?: Receivers;
}

/** A rule without a position among the others. */
export type UnplacedRule = Omit<PriorityRule, 'order' | 'requirements'>;

/** Whether the API server can detect that a pod violates the policy. */
export function judges(policy: PriorityPolicy): boolean {
  return POLICY_RULES.some(({ isSet }) => isSet(policy));
}

/** Whether the policy decides which class the pods of a template get. */
export function givesClasses(policy: PriorityPolicy): boolean {
  return rulesOf(policy).length > 0 || (policy.preemption === 'Never' && policy.substitutes.size > 0);
}

/** The classes for a set of rules: those that it ranks, and all that exist. */
export interface RuleClasses {
  readonly ranked: readonly PriorityClass[];
  readonly existing: PriorityClasses;
}

/** The rule that enforces a policy; `ranked` are all classes in order of value and name. */
export function judgingRule(policy: PriorityPolicy, classes: RuleClasses, isDryRun: boolean): UnplacedRule {
  return { ...givingRule(policy, classes), ...limitsOf(policy), mustBeGiven: true, isDryRun };
}

/** Whether the policy grants spare room to any pod. */
export function grantsSpareRoom({ runOn }: Pick<PriorityPolicy, 'runOn'>): boolean {
  return runOn.room !== 'Requested';
}

/** The rule of a quota that refuses the pods it counts where its label is missing. */
export function labelRule({ name, scope }: PriorityQuota, isDryRun: boolean): UnplacedRule {
  return { ...silentRule(name), counted: scope, isDryRun };
}

/** The rule of a policy that another set enforces; here it only decides which class a pod gets. */
export function givingRule(policy: PriorityPolicy, classes: RuleClasses): UnplacedRule {
  return {
    ...silentRule(policy.name),
    subjects: ruleSubjects(policy.subjects),
    isPersonal: isPersonal(policy),
    substitutes: policy.preemption === 'Never' ? policy.substitutes : new Map(),
    gives: givenBy(policy, classes),
  };
}

/** What a policy sets on the pods that it applies to; `ranked` are the classes that policies name. */
export function defaultingRule(policy: PriorityPolicy, classes: RuleClasses): UnplacedRule {
  const gives = givenBy(policy, classes, { isRecorded: true });
  const { schedulerName, runOn } = policy;
  return { ...givingRule(policy, classes), gives, schedulerName, runOn };
}

function silentRule(policy: string): UnplacedRule {
  return {
    ...NO_LIMITS,
    policy,
    subjects: undefined,
    isPersonal: false,
    gives: [],
    mustBeGiven: false,
    counted: undefined,
    substitutes: new Map(),
    schedulerName: undefined,
    isDryRun: false,
  };
}

function ruleSubjects(subjects: readonly PolicySubject[]): RuleSubjects | undefined {
  if (subjects.length === 0) return undefined;
  return {
    users: subjects.flatMap((each) => (each.kind === 'User' ? [each.name] : [])),
    groups: subjects.flatMap((each) => (each.kind === 'Group' ? [each.name] : [])),
    serviceAccounts: subjects.flatMap((each) => (each.kind === 'ServiceAccount' ? [serviceAccountUser(each)] : [])),
  };
}

/** A rule whose class does not exist, or that matches no pod, sets nothing. */
function givenBy(
  policy: PriorityPolicy,
  { ranked, existing }: RuleClasses,
  { isRecorded } = { isRecorded: false },
): readonly GivenByRule[] {
  return rulesOf(policy).flatMap(({ className, ownerKinds, pods: { requirements }, record }) => {
    if (!existing.has(className) || requirements === undefined) return [];
    const rank = ranked.findIndex(({ name }) => name === className);
    const podLabels = requirements.map(labelTest);
    return [
      { className, rank: rank < 0 ? undefined : rank, podLabels, ownerKinds, record: isRecorded ? record : undefined },
    ];
  });
}

/** A requirement on a label as the API server tests it. */
export function labelTest({ key, operator, values }: Requirement): LabelTest {
  const hasValues = operator === 'In' || operator === 'NotIn';
  return { key, values: hasValues ? values : undefined, is: operator === 'In' || operator === 'Exists' };
}

/*
 * PriorityPolicies in the form that the API server evaluates by itself, one object for all of them, so that rules about
 * classes hold while no webhook answers (docs/decisions/0014-rules-in-the-api-server.md). Compiling is a pure function of
 * policies and classes; namespaces are matched by the API server, on the labels they have at that moment.
 */

import type { Requirement } from '#shared/domain/labels/label-selector.ts';
import type { PriorityClass, PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import type { PriorityScope, PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import {
  isPersonal,
  type PriorityPolicy,
  type Subject,
  rulesOf,
  serviceAccountUser,
} from '#shared/domain/priority/priority-policy.ts';

/** One label of a namespace: whether it is there, with one of some values where such are given, must be `is`. */
export interface LabelTest {
  readonly key: string;
  readonly values: readonly string[] | undefined;
  readonly is: boolean;
}

/** Whom a rule holds for, by name; service accounts as users: `system:serviceaccount:NAMESPACE:NAME`. */
export interface RuleSubjects {
  readonly users: readonly string[];
  readonly groups: readonly string[];
  readonly serviceAccounts: readonly string[];
}

/** What is left of one policy, or of one quota that requires its label. */
export interface PriorityRule {
  /** The name of the policy or quota. */
  readonly policy: string;
  /** Its place in the set: by name, quotas last, so that the first violation is always the same. */
  readonly order: number;
  /** Labels of the namespace in addition to the one by which the rule is found. */
  readonly requirements: readonly LabelTest[];
  /** `undefined` for everyone. */
  readonly subjects: RuleSubjects | undefined;
  /** It names users or groups, who are known where a template is written and not where a controller creates its pods. */
  readonly isPersonal: boolean;
  readonly allowed: readonly string[] | undefined;
  readonly maxPriority: number | undefined;
  readonly preemption: 'Allow' | 'Never';
  /** Classes that are unusable in a namespace without the label by which quotas are in force. */
  readonly requireQuotaFor: readonly string[];
  /** What pods without a class are given: by the first of these that takes the pod. */
  readonly gives: readonly GivenByRule[];
  /** Whether a pod that did not get it breaks the rule. */
  readonly mustBeGiven: boolean;
  /** The pods that a quota counts: it requires its label on their namespace, and its rule says nothing else. */
  readonly counted: PriorityScope | undefined;
  /** Empty unless the policy forbids preemption. */
  readonly substitutes: ReadonlyMap<string, string>;
  /** Given to pods that name no scheduler; only in the set that gives. */
  readonly schedulerName: string | undefined;
  /** It would refuse, and warns because the webhook is in dry run. */
  readonly isDryRun: boolean;
}

/** A class that exists, and the pods that a policy gives it to. */
export interface GivenByRule {
  readonly className: string;
  /** Its number in `classes`, where the set has it; of several rules' the lowest counts. */
  readonly rank: number | undefined;
  readonly podLabels: readonly LabelTest[];
  /** Kinds of the controller; empty takes every pod. */
  readonly ownerKinds: readonly string[];
  /** What is recorded on the pod; only in the set that gives. */
  readonly record: string | undefined;
}

/** Numbers of rules by a label that a namespace has, by key and value. */
export type RuleIndex = ReadonlyMap<string, ReadonlyMap<string, readonly number[]>>;

/** Which pods a set has something for, so that the API server need not evaluate it for the others. */
export interface Receivers {
  /** Classes that a rule replaces. */
  readonly classNames: ReadonlySet<string>;
  /** Whether a rule gives a scheduler, so that pods of every class may get one. */
  readonly schedulers: boolean;
}

/** All rules that refuse, all that warn, or all that give. Every rule is found either by one label or everywhere. */
export interface RuleSet {
  readonly rules: readonly PriorityRule[];
  readonly byLabel: RuleIndex;
  readonly everywhere: readonly number[];
  /** In order of value and name: all of them where it matters which class a pod is given, else none. */
  readonly classes: readonly PriorityClass[];
  readonly checksQosClass: boolean;
  readonly isDryRun: boolean;
  /** Only of the set that gives; its `classes` are those that its rules name. */
  readonly receivers?: Receivers;
}

/** A rule that has no place yet among the others. */
export type UnplacedRule = Omit<PriorityRule, 'order' | 'requirements'>;

/** Whether the API server can find that a pod breaks the policy. */
export function judges({ allowedClassNames, maxPriority, preemption, ...policy }: PriorityPolicy): boolean {
  const isLimiting = allowedClassNames !== undefined || maxPriority !== undefined || preemption === 'Never';
  return isLimiting || policy.requireQuotaFor.length > 0 || rulesOf(policy).length > 0;
}

/** Whether the policy says which class the pods of a template get. */
export function givesClasses(policy: PriorityPolicy): boolean {
  return rulesOf(policy).length > 0 || (policy.preemption === 'Never' && policy.substitutes.size > 0);
}

/** The classes of a set of rules: those that it ranks, and all that exist. */
export interface RuleClasses {
  readonly ranked: readonly PriorityClass[];
  readonly existing: PriorityClasses;
}

/** The rule by which a policy judges; ranked are all classes in order of value and name. */
export function judgingRule(policy: PriorityPolicy, classes: RuleClasses, isDryRun: boolean): UnplacedRule {
  const { allowedClassNames: allowed, maxPriority, preemption, requireQuotaFor } = policy;
  return {
    ...givingRule(policy, classes),
    mustBeGiven: true,
    allowed,
    maxPriority,
    preemption,
    requireQuotaFor,
    isDryRun,
  };
}

/** The rule of a quota that refuses the pods it counts where its label is missing. */
export function labelRule({ name, scope }: PriorityQuota, isDryRun: boolean): UnplacedRule {
  return { ...silentRule(name), counted: scope, isDryRun };
}

/** The rule of a policy that judges elsewhere and here only says which class a pod gets. */
export function givingRule(policy: PriorityPolicy, classes: RuleClasses): UnplacedRule {
  return {
    ...silentRule(policy.name),
    subjects: ruleSubjects(policy.subjects),
    isPersonal: isPersonal(policy),
    substitutes: policy.preemption === 'Never' ? policy.substitutes : new Map(),
    gives: givenBy(policy, classes),
  };
}

/** What a policy gives to the pods that it applies to; ranked are the classes that policies name. */
export function defaultingRule(policy: PriorityPolicy, classes: RuleClasses): UnplacedRule {
  const gives = givenBy(policy, classes, { isRecorded: true });
  return { ...givingRule(policy, classes), gives, schedulerName: policy.schedulerName };
}

function silentRule(policy: string): UnplacedRule {
  return {
    policy,
    subjects: undefined,
    isPersonal: false,
    allowed: undefined,
    maxPriority: undefined,
    preemption: 'Allow',
    requireQuotaFor: [],
    gives: [],
    mustBeGiven: false,
    counted: undefined,
    substitutes: new Map(),
    schedulerName: undefined,
    isDryRun: false,
  };
}

function ruleSubjects(subjects: readonly Subject[]): RuleSubjects | undefined {
  if (subjects.length === 0) return undefined;
  return {
    users: subjects.flatMap((each) => (each.kind === 'User' ? [each.name] : [])),
    groups: subjects.flatMap((each) => (each.kind === 'Group' ? [each.name] : [])),
    serviceAccounts: subjects.flatMap((each) => (each.kind === 'ServiceAccount' ? [serviceAccountUser(each)] : [])),
  };
}

/** A rule whose class does not exist, or that can take no pod, gives nothing. */
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

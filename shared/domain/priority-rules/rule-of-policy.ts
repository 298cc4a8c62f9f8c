import type { PriorityClass, PriorityClasses } from '#shared/domain/priority/priority-class.ts';
import { isPersonal, type PriorityPolicy, type Subject } from '#shared/domain/priority/priority-policy.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { PriorityRule, RuleSubjects } from './priority-rules.ts';

/** A rule that has no place yet among the others. */
export type UnplacedRule = Omit<PriorityRule, 'order' | 'requirements'>;

/** Whether the API server can find that a pod breaks the policy. */
export function judges({ allowedClassNames, maxPriority, preemption, ...policy }: PriorityPolicy): boolean {
  const isLimiting = allowedClassNames !== undefined || maxPriority !== undefined || preemption === 'Never';
  return isLimiting || policy.requireQuotaFor.length > 0 || policy.defaultClassName !== undefined;
}

/** Whether the policy says which class the pods of a template get. */
export function givesClasses({ defaultClassName, preemption, substitutes }: PriorityPolicy): boolean {
  return defaultClassName !== undefined || (preemption === 'Never' && substitutes.size > 0);
}

/** The classes of a set of rules: those that it ranks, and all that exist. */
export interface RuleClasses {
  readonly ranked: readonly PriorityClass[];
  readonly existing: PriorityClasses;
}

/** The rule by which a policy judges; ranked are all classes in order of value and name. */
export function judgingRule(policy: PriorityPolicy, classes: RuleClasses, isDryRun: boolean): UnplacedRule {
  const { allowedClassNames: allowed, maxPriority, preemption, requireQuotaFor, defaultClassName = '' } = policy;
  return {
    ...givingRule(policy, classes.ranked),
    allowed,
    maxPriority,
    preemption,
    requireQuotaFor,
    defaultClassName: classes.existing.get(defaultClassName)?.name,
    isDryRun,
  };
}

/** The rule of a quota that refuses the pods it counts where its label is missing. */
export function labelRule({ name, scope }: PriorityQuota, isDryRun: boolean): UnplacedRule {
  return { ...silentRule(name), counted: scope, isDryRun };
}

/** The rule of a policy that judges elsewhere and here only says which class a pod gets. */
export function givingRule(policy: PriorityPolicy, ranked: readonly PriorityClass[]): UnplacedRule {
  return {
    ...silentRule(policy.name),
    subjects: ruleSubjects(policy.subjects),
    isPersonal: isPersonal(policy),
    substitutes: policy.preemption === 'Never' ? policy.substitutes : new Map(),
    defaultRank: rankOf(policy, ranked),
  };
}

/** What a policy gives to the pods that it applies to; ranked are the classes that policies name. */
export function defaultingRule(policy: PriorityPolicy, ranked: readonly PriorityClass[]): UnplacedRule {
  return { ...givingRule(policy, ranked), schedulerName: policy.schedulerName };
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
    defaultClassName: undefined,
    counted: undefined,
    substitutes: new Map(),
    defaultRank: undefined,
    schedulerName: undefined,
    isDryRun: false,
  };
}

function ruleSubjects(subjects: readonly Subject[]): RuleSubjects | undefined {
  if (subjects.length === 0) return undefined;
  return {
    users: subjects.flatMap((each) => (each.kind === 'User' ? [each.name] : [])),
    groups: subjects.flatMap((each) => (each.kind === 'Group' ? [each.name] : [])),
    serviceAccounts: subjects.flatMap((each) =>
      each.kind === 'ServiceAccount' ? [`system:serviceaccount:${each.namespace}:${each.name}`] : [],
    ),
  };
}

function rankOf({ defaultClassName }: PriorityPolicy, ranked: readonly PriorityClass[]): number | undefined {
  const rank = ranked.findIndex(({ name }) => name === defaultClassName);
  return rank < 0 ? undefined : rank;
}

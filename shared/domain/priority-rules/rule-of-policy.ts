import type { PriorityClass } from '#shared/domain/priority/priority-class.ts';
import { isPersonal, type PriorityPolicy, type Subject } from '#shared/domain/priority/priority-policy.ts';
import type { PriorityRule, RuleSubjects } from './priority-rules.ts';

/** A rule that has no place yet among the others. */
export type UnplacedRule = Omit<PriorityRule, 'order' | 'requirements'>;

/** Whether the API server can find that a pod breaks the policy; quotas and defaults it leaves to the webhook. */
export function judges({ allowedClassNames, maxPriority, preemption }: PriorityPolicy): boolean {
  return allowedClassNames !== undefined || maxPriority !== undefined || preemption === 'Never';
}

/** Whether the policy says which class the pods of a template get. */
export function givesClasses({ defaultClassName, preemption, substitutes }: PriorityPolicy): boolean {
  return defaultClassName !== undefined || (preemption === 'Never' && substitutes.size > 0);
}

/** The rule by which a policy judges; `ranked` are all classes in order of value and name. */
export function judgingRule(policy: PriorityPolicy, ranked: readonly PriorityClass[], isDryRun: boolean): UnplacedRule {
  const { allowedClassNames: allowed, maxPriority, preemption } = policy;
  return { ...givingRule(policy, ranked), allowed, maxPriority, preemption, isDryRun };
}

/** The rule of a policy that judges elsewhere and here only says which class a pod gets. */
export function givingRule(policy: PriorityPolicy, ranked: readonly PriorityClass[]): UnplacedRule {
  return {
    policy: policy.name,
    subjects: ruleSubjects(policy.subjects),
    isPersonal: isPersonal(policy),
    allowed: undefined,
    maxPriority: undefined,
    preemption: 'Allow',
    substitutes: policy.preemption === 'Never' ? policy.substitutes : new Map(),
    defaultRank: rankOf(policy, ranked),
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

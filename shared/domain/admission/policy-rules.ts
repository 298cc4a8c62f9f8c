import type { Judged, PolicyRule } from './policy-rule.ts';
import { ALLOWED_CLASSES_RULE, CEILING_RULE, CLASS_RULE_MESSAGES, DEFAULT_RULE } from './rules/class-rules.ts';
import { SPARE_RULE, SPARE_RULE_MESSAGES } from './rules/spare-rules.ts';
import { PREEMPTION_RULE, QUOTA_REQUIRED_RULE, ROOM_RULE_MESSAGES } from './rules/room-rules.ts';

/**
 * The rules of PriorityPolicies, in the order in which violations are reported. The webhook (decide-validation.ts), the
 * expressions of the API server (shared/kube/admission/rule-expressions.ts) with the entries that these read, and the
 * review of policies walk this list.
 */
export const POLICY_RULES: readonly PolicyRule[] = [
  DEFAULT_RULE,
  ALLOWED_CLASSES_RULE,
  CEILING_RULE,
  PREEMPTION_RULE,
  QUOTA_REQUIRED_RULE,
  SPARE_RULE,
];

/** Sentences about what PriorityPolicies forbid, and quotas that require their label. */
export const RULE_MESSAGES = { ...CLASS_RULE_MESSAGES, ...ROOM_RULE_MESSAGES, ...SPARE_RULE_MESSAGES } as const;

/** The rules for one kind of request. */
export const RULES_FOR: Readonly<Record<Judged, readonly PolicyRule[]>> = {
  pod: rulesFor('pod'),
  template: rulesFor('template'),
  group: rulesFor('group'),
};

function rulesFor(judged: Judged): readonly PolicyRule[] {
  return POLICY_RULES.filter(({ judges }) => judges.includes(judged));
}

import type { RuleLimit } from '#shared/domain/priority-rules/fit-rules.ts';
import { judges } from '#shared/domain/priority-rules/rule-of-policy.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { Condition } from '#shared/kube/conditions.ts';

/** What is known about the rules that the API server enforces. */
export interface RuleState {
  /** Whether they match the policies; `undefined` until they have been compared. */
  readonly isCurrent: boolean | undefined;
  /** Why the last write failed, if it did. */
  readonly problem: string | undefined;
  /** Missing ValidatingAdmissionPolicies and bindings, without which nothing is enforced. */
  readonly missing: readonly string[];
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
  readonly isDryRun: boolean;
}

const TYPE = 'EnforcedByAPIServer';

const LIMITS: Readonly<Record<RuleLimit, readonly [reason: string, text: string]>> = {
  bytes: ['TooLarge', 'the rules of all policies together are too large for one object'],
  cost: ['TooCostly', 'evaluating the rules of all policies for one pod would exceed the cost limit of the API server'],
  groups: ['TooManyGroups', 'policies name too many different groups'],
};

/** Whether the API server itself enforces a policy; `undefined` until that is known. */
export function enforcementCondition(policy: PriorityPolicy, state: RuleState): Condition | undefined {
  if (state.isCurrent === undefined) return undefined;
  if (!judges(policy)) {
    return no(
      'NothingToEnforce',
      'The API server enforces nothing in this policy; its settings take effect in the webhook',
    );
  }
  const limit = state.leftOut.get(policy.name);
  if (limit !== undefined) return no(LIMITS[limit][0], `Enforced only by the webhook: ${LIMITS[limit][1]}`);
  if (!state.isCurrent) return no('NotCompiled', behindText(state));
  if (state.missing.length > 0) return no('NotInstalled', `Not installed: ${state.missing.join(', ')}`);
  return { type: TYPE, status: 'True', reason: 'Compiled', message: enforcedText(policy, state) };
}

function no(reason: string, message: string): Condition {
  return { type: TYPE, status: 'False', reason, message };
}

function behindText({ problem }: RuleState): string {
  const still = 'The API server still enforces previously compiled rules';
  return problem === undefined ? still : `${still}: ${problem}`;
}

function enforcedText({ requireQuotaFor, onViolation }: PriorityPolicy, { isDryRun }: RuleState): string {
  const does = isDryRun || onViolation === 'Warn' ? 'warns about' : 'refuses';
  const rest = requireQuotaFor.length > 0 ? '; requireQuotaFor is enforced only by the webhook' : '';
  return `The API server ${does} violations, even while the webhook is down${rest}`;
}

/** Whether a PriorityRules object contains all its policies. */
export function rulesCondition(leftOut: ReadonlyMap<string, RuleLimit>, policies: number): Condition {
  const names = [...leftOut.keys()].sort();
  const isComplete = names.length === 0;
  return {
    type: 'Current',
    status: isComplete ? 'True' : 'False',
    reason: isComplete ? 'Compiled' : 'PoliciesLeftOut',
    message: isComplete
      ? `Compiled from ${policies} PriorityPolicies`
      : `Enforced only by the webhook: ${names.join(', ')}`,
  };
}

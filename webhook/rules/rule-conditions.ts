import type { RuleLimit } from '#shared/domain/priority-rules/fit-rules.ts';
import { judges } from '#shared/domain/priority-rules/rule-of-policy.ts';
import type { PriorityPolicy } from '#shared/domain/priority/priority-policy.ts';
import type { Condition } from '#shared/kube/conditions.ts';
import { CONDITIONS, RULE_LIMITS } from '#webhook/messages.ts';
import type { RuleState } from './rule-state.ts';

const TYPE = 'EnforcedByAPIServer';

/** Whether the API server itself enforces a policy; `undefined` until that is known. */
export function enforcementCondition(policy: PriorityPolicy, state: RuleState): Condition | undefined {
  if (state.isCurrent === undefined) return undefined;
  if (!judges(policy)) return no('NothingToEnforce', CONDITIONS.nothingToEnforce());
  const limit = state.leftOut.get(policy.name);
  if (limit !== undefined) return no(RULE_LIMITS[limit][0], CONDITIONS.onlyByWebhook(RULE_LIMITS[limit][1]));
  if (!state.isCurrent) return no('NotCompiled', CONDITIONS.earlierRules(state.problem));
  if (state.missing.length > 0) return no('NotInstalled', CONDITIONS.notInstalled(state.missing));
  return { type: TYPE, status: 'True', reason: 'Compiled', message: enforcedText(policy, state) };
}

function no(reason: string, message: string): Condition {
  return { type: TYPE, status: 'False', reason, message };
}

function enforcedText({ onViolation }: PriorityPolicy, { isDryRun }: RuleState): string {
  const does = isDryRun || onViolation === 'Warn' ? 'warns about' : 'refuses';
  return CONDITIONS.enforced(does);
}

/** Whether a PriorityRules object contains all its policies. */
export function rulesCondition(leftOut: ReadonlyMap<string, RuleLimit>, policies: number): Condition {
  const names = [...leftOut.keys()].sort();
  const isComplete = names.length === 0;
  return {
    type: 'Current',
    status: isComplete ? 'True' : 'False',
    reason: isComplete ? 'Compiled' : 'PoliciesLeftOut',
    message: isComplete ? CONDITIONS.compiled(policies) : CONDITIONS.onlyByWebhook(names.join(', ')),
  };
}

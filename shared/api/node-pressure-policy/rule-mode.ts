import type { Threshold } from '#shared/domain/pressure/threshold.ts';
import type { Mode } from './mode.ts';
import type { AgentPolicy } from './policy.ts';
import { stallKey, type StallRule } from './stall-rule.ts';

function stricter(left: Mode, right: Mode): Mode {
  return left === 'Enforce' && right === 'Enforce' ? 'Enforce' : 'DryRun';
}

/** The mode of a threshold: the policy's, unless it has a stricter one of its own. */
export function thresholdMode({ id }: Threshold, { mode, thresholdModes }: AgentPolicy): Mode {
  return stricter(mode, thresholdModes.get(id) ?? 'Enforce');
}

/** The mode of a stall rule: both the policy and the rule must enforce. */
export function stallMode(rule: StallRule, { mode }: AgentPolicy): Mode {
  return stricter(mode, rule.mode);
}

/** The cause of an eviction: a threshold by its id, or a stall rule by its key. */
interface EvictionCause {
  readonly threshold: Pick<Threshold, 'id'>;
}

/** The mode in which a policy acts on the cause of an eviction; `DryRun` if the policy no longer has that rule. */
export function modeOf({ threshold }: EvictionCause, policy: AgentPolicy): Mode {
  const rule = policy.stallRules.find((each) => stallKey(each) === threshold.id);
  if (rule !== undefined) return stallMode(rule, policy);
  const found = policy.thresholds.find(({ id }) => id === threshold.id);
  return found === undefined ? 'DryRun' : thresholdMode(found, policy);
}

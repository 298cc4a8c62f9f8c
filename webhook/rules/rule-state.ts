import type { RuleLimit } from '#shared/domain/priority-rules/fit-rules.ts';
import { judges } from '#shared/domain/priority-rules/priority-rules.ts';
import type { PriorityPolicy } from '#shared/domain/priority/classes-and-policies.ts';
import type { Condition } from '#shared/kube/kube-object.ts';
import { CONDITIONS, RULE_LIMITS } from '#webhook/messages.ts';

/** What is known about the rules that the API server enforces. */
export interface RuleState {
  /** Whether they match the policies; `undefined` until they have been compared. */
  readonly isCurrent: boolean | undefined;
  /** Why the last write failed, if it did. */
  readonly problem: string | undefined;
  /** Missing ValidatingAdmissionPolicies and bindings; without them nothing is enforced. */
  readonly missing: readonly string[];
  readonly leftOut: ReadonlyMap<string, RuleLimit>;
  readonly isDryRun: boolean;
  /** When they started to differ, monotonic; `undefined` while they match. */
  readonly behindSince: number | undefined;
}

/** What happened to the rules. */
export type RuleEvent =
  | { readonly kind: 'compared'; readonly isCurrent: boolean; readonly leftOut: RuleState['leftOut'] }
  | { readonly kind: 'comparisonFailed' }
  | { readonly kind: 'written'; readonly missing: readonly string[] }
  | { readonly kind: 'writeFailed'; readonly problem: string };

/** Every change makes the rules differ for a moment; that is not reported. */
const SETTLE_MS = 5_000;

/** Before anything is known. */
export function unknownRules(isDryRun: boolean): RuleState {
  return {
    isCurrent: undefined,
    problem: undefined,
    missing: [],
    leftOut: new Map(),
    isDryRun,
    behindSince: undefined,
  };
}

/** The state after an event at `now`. */
export function nextRuleState(state: RuleState, event: RuleEvent, now: number): RuleState {
  const behindSince = state.behindSince ?? now;
  switch (event.kind) {
    case 'compared':
      return event.isCurrent
        ? { ...state, isCurrent: true, leftOut: event.leftOut, problem: undefined, behindSince: undefined }
        : { ...state, isCurrent: false, leftOut: event.leftOut, behindSince };
    case 'comparisonFailed':
      return { ...state, behindSince };
    case 'written':
      return { ...state, missing: event.missing };
    case 'writeFailed':
      return { ...state, isCurrent: false, problem: event.problem, behindSince };
  }
}

/** For how long the API server has enforced other rules, in milliseconds; 0 while they match. */
export function behindMs({ behindSince }: RuleState, now: number): number {
  return behindSince === undefined ? 0 : now - behindSince;
}

/** Whether the rules have differed for so short a time that a change may just be in progress. */
export function isJustBehind(state: RuleState, now: number): boolean {
  return state.behindSince !== undefined && behindMs(state, now) < SETTLE_MS;
}

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

import type { Because } from '#shared/domain/model/because.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import { stallKey } from '#agent/policy/stall-rule.ts';
import type { MetStalls } from './advance-stalls.ts';

/** How a threshold or a stall rule came into force on this node. */
export interface RuleActivation {
  /** Whether it may act: it was not met when it arrived, was relieved since, or was confirmed. */
  readonly isConfirmed: boolean;
  /** The policy that brought it. */
  readonly policy: string;
  readonly generation: number;
}

/** By id of a threshold or key of a stall rule; `undefined` before anything is known, when all rules may act. */
export type RuleActivations = ReadonlyMap<string, RuleActivation> | undefined;

interface Rule {
  readonly key: string;
  readonly isMet: boolean;
}

/** What rules are held against at this look: a threshold its last measurement, without any grace or second look. */
export interface SeenRules {
  readonly observations: Observations;
  readonly stalls: MetStalls;
}

/** Rules whose signal is not known now are not in it: they have not arrived yet. */
function rulesOf({ thresholds, stallRules }: AgentPolicy, { observations, stalls }: SeenRules): readonly Rule[] {
  const known = thresholds.filter(({ signal }) => observations.has(signal));
  return [
    ...known.map((threshold) => ({ key: threshold.id, isMet: isBelow(threshold, observations) })),
    ...stallRules.map(stallKey).map((key) => ({ key, isMet: stalls.has(key) })),
  ];
}

/**
 * The arrivals after one more look at which the agent might act. A rule that is met when it arrives would evict on every
 * node that it selects at once, because of a configuration and not of a shortage: it is reported only, until it
 * was relieved once, or an operator confirms it by changing its policy again or by the annotation
 * `plimsoll.dev/confirmed-generation`. While an agent that was just started reads policies and history, nothing arrives.
 */
export function advanceActivations(previous: RuleActivations, policy: AgentPolicy, seen: SeenRules): RuleActivations {
  const kept = [...(previous ?? [])].filter(([key]) => policy.thresholds.some(({ id }) => id === key));
  const judged = rulesOf(policy, seen).map((rule) => [rule.key, activationOf(rule, previous, policy)] as const);
  return new Map([...kept, ...judged]);
}

function activationOf({ key, isMet }: Rule, previous: RuleActivations, policy: AgentPolicy): RuleActivation {
  const before = previous?.get(key);
  if (before?.isConfirmed === true) return before;
  const isConfirmed = previous === undefined || !isMet || isApproved(before, policy);
  if (before !== undefined && !isConfirmed) return before;
  return { isConfirmed, policy: policy.name, generation: policy.generation };
}

/** Whether an operator has said so twice: by a second change of the same policy, or by naming its generation. */
function isApproved(
  before: RuleActivation | undefined,
  { name, generation, confirmedGeneration }: AgentPolicy,
): boolean {
  return confirmedGeneration === generation || (before?.policy === name && generation > before.generation);
}

/** The arrivals that a predecessor told of, so that a restart confirms nothing; all may act where it told of none. */
export function restoreActivations(
  previous: readonly (RuleActivation & { readonly rule: string })[] | undefined,
): RuleActivations {
  return (
    previous &&
    new Map(previous.map(({ rule, isConfirmed, policy, generation }) => [rule, { isConfirmed, policy, generation }]))
  );
}

/** Whether a rule may act as far as its arrival goes. */
export function mayAct(activations: RuleActivations, key: string): boolean {
  return activations?.get(key)?.isConfirmed !== false;
}

/** What waits for a confirmation; `undefined` when nothing does. */
export function unconfirmedRules(activations: RuleActivations): Because | undefined {
  const waiting = [...(activations ?? [])].filter(([, { isConfirmed }]) => !isConfirmed);
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [rule, { policy, generation }] = first;
  const others = waiting.length === 1 ? '' : ` (and ${waiting.length - 1} more)`;
  const text =
    `${rule}${others} was met already when policy ${policy} brought it: it is reported and not enforced until it is ` +
    `relieved once, the policy is changed again, or annotated plimsoll.dev/confirmed-generation: "${generation}"`;
  return { code: 'MetOnArrival', text, facts: { rule, policy, generation, waiting: waiting.length } };
}

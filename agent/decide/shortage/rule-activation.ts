import type { Because } from '#shared/domain/model/because.ts';
import { isBelow } from '#shared/domain/pressure/is-below.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { stallKey } from '#shared/api/node-pressure-policy/stall-rule.ts';
import type { MetStalls } from './advance-stalls.ts';
import { REASONS } from '#agent/messages.ts';

/** How a threshold or a stall rule came into force on this node. */
export interface RuleActivation {
  /** Whether it may act: it was not met when it came into force, has been relieved since, or was confirmed. */
  readonly isConfirmed: boolean;
  /** The policy that introduced it. */
  readonly policy: string;
  readonly generation: number;
}

/** By threshold id or stall rule key; `undefined` before anything is known, when all rules may act. */
export type RuleActivations = ReadonlyMap<string, RuleActivation> | undefined;

interface Rule {
  readonly key: string;
  readonly isMet: boolean;
}

/**
 * What rules are compared with in this pass: for a threshold the last measurement, without grace period or
 * confirmation.
 */
export interface SeenRules {
  readonly observations: Observations;
  readonly stalls: MetStalls;
}

/** Rules whose signal is unknown now are left out: they are not in force yet. */
function rulesOf({ thresholds, stallRules }: AgentPolicy, { observations, stalls }: SeenRules): readonly Rule[] {
  const known = thresholds.filter(({ signal }) => observations.has(signal));
  return [
    ...known.map((threshold) => ({ key: threshold.id, isMet: isBelow(threshold, observations) })),
    ...stallRules.map(stallKey).map((key) => ({ key, isMet: stalls.has(key) })),
  ];
}

/**
 * The activations after one more pass in which the agent may act. A rule that is already met when it comes into force
 * would evict on every selected node at once, because of a configuration and not of a shortage: it is only reported
 * until it is relieved once, or until an operator confirms it by changing the policy again or by the annotation
 * `plimsoll.dev/confirmed-generation`. While a restarted agent reads policies and history, no rule comes into force.
 */
export function advanceActivations(previous: RuleActivations, policy: AgentPolicy, seen: SeenRules): RuleActivations {
  const kept = [...(previous ?? [])].filter(([key]) => policy.thresholds.some(({ id }) => id === key));
  const current = rulesOf(policy, seen).map((rule) => [rule.key, activationOf(rule, previous, policy)] as const);
  return new Map([...kept, ...current]);
}

function activationOf({ key, isMet }: Rule, previous: RuleActivations, policy: AgentPolicy): RuleActivation {
  const before = previous?.get(key);
  if (before?.isConfirmed === true) return before;
  const isConfirmed = previous === undefined || !isMet || isApproved(before, policy);
  if (before !== undefined && !isConfirmed) return before;
  return { isConfirmed, policy: policy.name, generation: policy.generation };
}

/** Whether an operator has confirmed the rule: by a second change of the same policy, or by naming its generation. */
function isApproved(
  before: RuleActivation | undefined,
  { name, generation, confirmedGeneration }: AgentPolicy,
): boolean {
  return confirmedGeneration === generation || (before?.policy === name && generation > before.generation);
}

/**
 * The activations that a previous process recorded, so that a restart confirms nothing; all rules may act if it
 * recorded none.
 */
export function restoreActivations(
  previous: readonly (RuleActivation & { readonly rule: string })[] | undefined,
): RuleActivations {
  return (
    previous &&
    new Map(previous.map(({ rule, isConfirmed, policy, generation }) => [rule, { isConfirmed, policy, generation }]))
  );
}

/** Whether a rule may act as far as its activation goes. */
export function mayAct(activations: RuleActivations, key: string): boolean {
  return activations?.get(key)?.isConfirmed !== false;
}

/** Rules that wait for confirmation; `undefined` if none does. */
export function unconfirmedRules(activations: RuleActivations): Because | undefined {
  const waiting = [...(activations ?? [])].filter(([, { isConfirmed }]) => !isConfirmed);
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [rule, { policy, generation }] = first;
  const facts = { rule, policy, generation, waiting: waiting.length };
  return REASONS.metOnArrival(facts, facts);
}

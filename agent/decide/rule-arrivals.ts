import type { Because } from '#shared/domain/model/because.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { StallRule } from '#agent/policy/stall-rule.ts';
import type { MetStalls } from './advance-stalls.ts';

/** How a threshold or a stall rule came into force on this node. */
export interface Arrival {
  /** Whether it may act: it was not met when it arrived, was relieved since, or was confirmed. */
  readonly isConfirmed: boolean;
  /** The policy that brought it. */
  readonly policy: string;
  readonly generation: number;
}

/** By `ruleKey`; `undefined` before anything is known, when all rules may act. */
export type Arrivals = ReadonlyMap<string, Arrival> | undefined;

/** What a stall rule is known by; a threshold has an id. */
export function stallKey({ signal, share, short, long, evidence }: StallRule): string {
  const windows = [short, long].map(({ windowMs, ratio }) => `${ratio} of ${windowMs / 1000} s`).join(' and ');
  const below = evidence.below.kind === 'share' ? String(evidence.below.share) : 'an amount';
  return `${signal} ${share} ${windows} while below ${below}`;
}

interface Rule {
  readonly key: string;
  readonly isMet: boolean;
}

/** What is met now, by whatever is looked at for it. */
export interface MetRules {
  readonly thresholdIds: ReadonlySet<string>;
  readonly stalls: MetStalls;
}

function rulesOf({ thresholds, stallRules }: AgentPolicy, { thresholdIds, stalls }: MetRules): readonly Rule[] {
  return [
    ...thresholds.map(({ id }) => ({ key: id, isMet: thresholdIds.has(id) })),
    ...stallRules.map((rule) => ({ key: stallKey(rule), isMet: stalls.has(rule.signal) })),
  ];
}

/**
 * The arrivals after one more look at which the agent might act. A rule that is met when it arrives would evict on every
 * node that it selects at once, because of a configuration and not of a shortage: it is reported only, until it
 * was relieved once, or an operator confirms it by changing its policy again or by the annotation
 * `plimsoll.dev/confirmed-generation`. While an agent that was just started reads policies and history, nothing arrives.
 */
export function advanceArrivals(previous: Arrivals, policy: AgentPolicy, met: MetRules): Arrivals {
  return new Map(rulesOf(policy, met).map((rule) => [rule.key, arrivalOf(rule, previous, policy)]));
}

function arrivalOf({ key, isMet }: Rule, previous: Arrivals, policy: AgentPolicy): Arrival {
  const before = previous?.get(key);
  if (before?.isConfirmed === true) return before;
  const isConfirmed = previous === undefined || !isMet || isApproved(before, policy);
  if (before !== undefined && !isConfirmed) return before;
  return { isConfirmed, policy: policy.name, generation: policy.generation };
}

/** Whether an operator has said so twice: by a second change of the same policy, or by naming its generation. */
function isApproved(before: Arrival | undefined, { name, generation, confirmedGeneration }: AgentPolicy): boolean {
  return confirmedGeneration === generation || (before?.policy === name && generation > before.generation);
}

/** The arrivals that a predecessor told of, so that a restart confirms nothing; all may act where it told of none. */
export function recallArrivals(told: readonly (Arrival & { readonly rule: string })[] | undefined): Arrivals {
  return (
    told &&
    new Map(told.map(({ rule, isConfirmed, policy, generation }) => [rule, { isConfirmed, policy, generation }]))
  );
}

/** Whether a rule may act as far as its arrival goes. */
export function mayAct(arrivals: Arrivals, key: string): boolean {
  return arrivals?.get(key)?.isConfirmed !== false;
}

/** What waits for a confirmation; `undefined` when nothing does. */
export function unconfirmedRules(arrivals: Arrivals): Because | undefined {
  const waiting = [...(arrivals ?? [])].filter(([, { isConfirmed }]) => !isConfirmed);
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [rule, { policy, generation }] = first;
  const others = waiting.length === 1 ? '' : ` (and ${waiting.length - 1} more)`;
  const text =
    `${rule}${others} was met already when policy ${policy} brought it: it is reported and not enforced until it is ` +
    `relieved once, the policy is changed again, or annotated plimsoll.dev/confirmed-generation: "${generation}"`;
  return { code: 'MetOnArrival', text, facts: { rule, policy, generation, waiting: waiting.length } };
}

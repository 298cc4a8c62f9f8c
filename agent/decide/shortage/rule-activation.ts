import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { PressureState } from '#shared/domain/pressure/advance-pressure.ts';
import {
  amountOf,
  amountToRelieve,
  isBelow,
  isHard,
  type Threshold,
  thresholdOfId,
} from '#shared/domain/pressure/threshold.ts';
import type { Observations } from '#shared/domain/pressure/observation.ts';
import { compareQuantities } from '#shared/domain/quantity/quantity.ts';
import {
  type Mode,
  type AgentPolicy,
  DEFAULT_POLICY,
  stallMode,
  thresholdMode,
  stallKey,
} from '#shared/api/node-pressure-policy/policy.ts';
import type { MetStalls } from './advance-stalls.ts';
import { REASONS } from '#agent/messages.ts';

/** How a threshold or a stall rule came into force on this node. */
export interface RuleActivation {
  /** Whether it may act: it was not met when it came into force, has been unmet for long since, or was confirmed. */
  readonly isConfirmed: boolean;
  /** The policy that introduced it. */
  readonly policy: string;
  readonly generation: number;
  /** `Enforce` once it was enforced: a threshold that was a dry run under its policy does no more afterwards. */
  readonly mode?: Mode | undefined;
  /** Of an unconfirmed rule: since when it has not been met. */
  readonly unmetSince?: Instant | undefined;
}

/** By threshold id or stall rule key; `undefined` before anything is known, when all rules may act. */
export type RuleActivations = ReadonlyMap<string, RuleActivation> | undefined;

interface Rule {
  readonly key: string;
  readonly isMet: boolean;
  /** Whether the node is short by a default threshold too, so that the rule may act on a node without a history. */
  readonly isShortAnyway: boolean;
  /** Whether a confirmed threshold asked for as much, so that the rule evicts no pod that would have stayed. */
  readonly asksForLess: boolean;
  readonly mode: Mode;
}

/**
 * What rules are compared with in this pass: for a threshold the last measurement, without grace period or
 * confirmation.
 */
export interface SeenRules {
  readonly observations: Observations;
  readonly stalls: MetStalls;
  readonly now: Instant;
}

/** Rules whose signal is unknown now are left out: they are not in force yet. */
function rulesOf(policy: AgentPolicy, previous: RuleActivations, { observations, stalls }: SeenRules): readonly Rule[] {
  const known = policy.thresholds.filter(({ signal }) => observations.has(signal));
  const enforced = enforcedThresholds(previous);
  return [
    ...known.map((threshold) => ({
      key: threshold.id,
      isMet: isBelow(threshold, observations),
      isShortAnyway: isShortByDefault(threshold, observations),
      asksForLess: enforced.some((each) => asksForAsMuch(each, threshold, observations)),
      mode: thresholdMode(threshold, policy),
    })),
    ...policy.stallRules.map((rule) => {
      const key = stallKey(rule);
      return { key, isMet: stalls.has(key), isShortAnyway: true, asksForLess: false, mode: stallMode(rule, policy) };
    }),
  ];
}

/** Whether the node is short by a default threshold too; where the signal has none, nothing says that it is healthy. */
function isShortByDefault({ signal }: Threshold, observations: Observations): boolean {
  const defaults = DEFAULT_POLICY.thresholds.filter((each) => each.signal === signal);
  return defaults.length === 0 || defaults.some((each) => isBelow(each, observations));
}

/** Whether of two thresholds of one kind the first evicts wherever the second does. */
function asksForAsMuch(first: Threshold, second: Threshold, observations: Observations): boolean {
  const observed = observations.get(second.signal);
  if (observed === undefined || !isSuccessor(second, first)) return false;
  const isAsMuch = compareQuantities(amountToRelieve(first, observed), amountToRelieve(second, observed)) >= 0;
  const isAsHigh = compareQuantities(amountOf(first.value, observed), amountOf(second.value, observed)) >= 0;
  return isAsMuch && isAsHigh && first.gracePeriodSeconds <= second.gracePeriodSeconds;
}

/**
 * The activations after one more pass in which the agent may act. A rule that is already met when it comes into force
 * would evict on every selected node at once, because of a configuration and not of a shortage: it is only reported
 * until it has not been met for the policy's transition period, or until an operator confirms it by changing the policy
 * again or by the annotation `plimsoll.dev/confirmed-generation`. On a node without a recorded history this holds for
 * thresholds that a healthy node already meets. While a restarted agent reads policies and history, no rule comes into
 * force.
 */
export function advanceActivations(previous: RuleActivations, policy: AgentPolicy, seen: SeenRules): RuleActivations {
  const kept = [...(previous ?? [])].filter(([key]) => policy.thresholds.some(({ id }) => id === key));
  const unseen = kept.map(([key, each]) => [key, each.isConfirmed ? each : waiting(each)] as const);
  const inForce = keptThresholds(policy, previous, seen.observations).flatMap(({ id }) => {
    const before = previous?.get(id);
    return before === undefined ? [] : [[id, before] as const];
  });
  const current = rulesOf(policy, previous, seen).map(
    (rule) => [rule.key, activationOf(rule, previous, policy, seen)] as const,
  );
  return new Map([...inForce, ...unseen, ...current]);
}

/** Without a measurement nothing is known about relief. */
function waiting(activation: RuleActivation): RuleActivation {
  return { ...activation, unmetSince: undefined };
}

function activationOf(rule: Rule, previous: RuleActivations, policy: AgentPolicy, seen: SeenRules): RuleActivation {
  const before = previous?.get(rule.key);
  if (before?.isConfirmed === true) return inMode(before, rule.mode);
  const introduced = { policy: policy.name, generation: policy.generation, mode: rule.mode };
  const unmetSince = rule.isMet ? undefined : (before?.unmetSince ?? seen.now);
  const mayAct = before === undefined ? mayBegin(rule, previous) : isRelieved(unmetSince, policy, seen);
  if (mayAct || isApproved(before, policy)) return { ...introduced, isConfirmed: true };
  return { ...introduced, ...before, isConfirmed: false, unmetSince };
}

function inMode(activation: RuleActivation, mode: Mode): RuleActivation {
  return { ...activation, mode: activation.mode === 'Enforce' ? 'Enforce' : mode };
}

function isRelieved(since: Instant | undefined, { transitionPeriodMs }: AgentPolicy, { now }: SeenRules): boolean {
  return since !== undefined && now - since >= transitionPeriodMs;
}

/** Whether a rule acts from its first pass on. */
function mayBegin({ isMet, isShortAnyway, asksForLess }: Rule, previous: RuleActivations): boolean {
  return !isMet || asksForLess || (previous === undefined && isShortAnyway);
}

/**
 * Thresholds that stay in force although the policy does not have them: while a hard or soft threshold of a signal waits
 * for confirmation, the confirmed one before it, or if there was none the default one, unless that asks for more.
 */
export function keptThresholds(
  policy: AgentPolicy,
  activations: RuleActivations,
  observations: Observations,
): readonly Threshold[] {
  if (activations === undefined) return [];
  const held = policy.thresholds.filter(({ id }) => activations.get(id)?.isConfirmed !== true);
  if (held.length === 0) return [];
  const own = new Set(policy.thresholds.map(({ id }) => id));
  const before = enforcedThresholds(activations).filter(({ id }) => !own.has(id));
  return held.flatMap((threshold) => {
    const isPredecessor = (each: Threshold): boolean => isSuccessor(threshold, each) && !own.has(each.id);
    const predecessors = before.filter(isPredecessor);
    if (predecessors.length > 0) return predecessors;
    return DEFAULT_POLICY.thresholds.filter(
      (each) => isPredecessor(each) && asksForAsMuch(threshold, each, observations),
    );
  });
}

/** Thresholds that were confirmed and acted; what was a dry run under its policy is not enforced later. */
function enforcedThresholds(activations: RuleActivations): readonly Threshold[] {
  const confirmed = [...(activations ?? [])].filter(([, each]) => each.isConfirmed && each.mode === 'Enforce');
  return confirmed.flatMap(([key]) => thresholdOfId(key) ?? []);
}

function isSuccessor(threshold: Threshold, before: Threshold): boolean {
  return threshold.signal === before.signal && isHard(threshold) === isHard(before);
}

/** The rules, and what was measured last. */
export interface ActivationState {
  readonly activations: RuleActivations;
  readonly pressure: Pick<PressureState, 'observations'>;
}

/** The policy with the thresholds that stay in force, in the mode of those that wait. */
export function withKeptThresholds(policy: AgentPolicy, { activations, pressure }: ActivationState): AgentPolicy {
  const kept = keptThresholds(policy, activations, pressure.observations);
  if (kept.length === 0) return policy;
  const modes = kept.map((threshold) => [threshold.id, keptMode(threshold, policy)] as const);
  return {
    ...policy,
    thresholds: [...policy.thresholds, ...kept],
    thresholdModes: new Map([...policy.thresholdModes, ...modes]),
  };
}

function keptMode(threshold: Threshold, policy: AgentPolicy): Mode {
  const successors = policy.thresholds.filter((each) => isSuccessor(each, threshold));
  return successors.some((each) => thresholdMode(each, policy) === 'DryRun') ? 'DryRun' : 'Enforce';
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
  return previous && new Map(previous.map(({ rule, ...activation }) => [rule, activation]));
}

/** Whether a rule may act as far as its activation goes. */
export function mayAct(activations: RuleActivations, key: string): boolean {
  return activations?.get(key)?.isConfirmed !== false;
}

/** Rules that wait for confirmation, and what is in force meanwhile; `undefined` if none waits. */
export function unconfirmedRules(
  { activations, pressure }: ActivationState,
  inForce: AgentPolicy,
): Because | undefined {
  const waiting = [...(activations ?? [])].filter(([, { isConfirmed }]) => !isConfirmed);
  const [first] = waiting;
  if (first === undefined) return undefined;
  const [rule, { policy, generation }] = first;
  const [kept] = keptThresholds(inForce, activations, pressure.observations);
  const seconds = inForce.transitionPeriodMs / 1000;
  const facts = { rule, policy, generation, waiting: waiting.length, seconds };
  return REASONS.metOnArrival({ ...facts, kept: kept?.id }, { ...facts, ...(kept && { kept: kept.id }) });
}

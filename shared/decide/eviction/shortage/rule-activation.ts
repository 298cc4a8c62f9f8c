import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type PressureState, isBelow, type Threshold, thresholdOfId } from '#shared/domain/pressure/threshold.ts';
import type { Observations } from '#shared/domain/pressure/signal.ts';
import { holdingRecord, REVOCABLE_MS, type ThresholdRecord } from '#shared/domain/pressure/threshold-record.ts';
import {
  type Mode,
  type AgentPolicy,
  DEFAULT_POLICY,
  stallMode,
  thresholdMode,
  stallKey,
} from '#shared/api/node-pressure-policy/policy.ts';
import type { HeldBy } from '#shared/api/node-pressure.ts';
import type { MetStalls } from './advance-stalls.ts';
import { asksForAsMuch, isShortByDefault, isSuccessor } from './advance-thresholds.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

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
  /** Of an unconfirmed rule: whether this node met it and has not been relieved since, or only other nodes did. */
  readonly heldBy?: HeldBy | undefined;
  /** When this process confirmed a threshold only because it was not met; while it is new, a record can hold it. */
  readonly unmetOnArrivalAt?: Instant | undefined;
}

/** By threshold ID or stall rule key; `undefined` before anything is known, when all rules may act. */
export type RuleActivations = ReadonlyMap<string, RuleActivation> | undefined;

interface Rule {
  readonly key: string;
  readonly isMet: boolean;
  /** Whether the node is short by a default threshold too, so that the rule may act on a node without a history. */
  readonly isShortAnyway: boolean;
  /** Whether a confirmed threshold demanded as much, so that the rule evicts no additional pod. */
  readonly asksForLess: boolean;
  /** Other nodes hold it: the status of the policy says so. */
  readonly record?: ThresholdRecord | undefined;
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
      record: holdingRecord(policy.thresholdRecords, threshold.id, policy),
      mode: thresholdMode(threshold, policy),
    })),
    ...policy.stallRules.map((rule) => {
      const key = stallKey(rule);
      return { key, isMet: stalls.has(key), isShortAnyway: true, asksForLess: false, mode: stallMode(rule, policy) };
    }),
  ];
}

/**
 * The activations after one more pass in which the agent may act. A rule that is already met when it comes into force
 * would evict on every selected node at once, because of a configuration and not of a shortage: it is only reported
 * until it has not been met for the policy's transition period, or until an operator confirms it by changing the policy
 * again or by the annotation `plimsoll.dev/confirmed-generation`. On a node without a recorded history this holds for
 * thresholds that a healthy node already meets. What other nodes hold waits here too (docs/contributing/decisions/thresholds.md). While a
 * restarted agent reads policies and history, no rule comes into force.
 */
export function advanceActivations(previous: RuleActivations, policy: AgentPolicy, seen: SeenRules): RuleActivations {
  const kept = [...(previous ?? [])].filter(([key]) => policy.thresholds.some(({ id }) => id === key));
  const unseen = kept.map(([key, each]) => [key, each.isConfirmed ? each : waiting(each)] as const);
  const inForce = predecessors(policy, previous, (each) => isWaiting(each) || isRevocable(each, seen.now)).flatMap(
    ({ id }) => {
      const before = previous?.get(id);
      return before === undefined ? [] : [[id, before] as const];
    },
  );
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
  const isHeldElsewhere = isHeld(rule, before, policy, seen);
  if (before?.isConfirmed === true && !isHeldElsewhere) return inMode(before, rule.mode);
  const introduced = { policy: policy.name, generation: policy.generation, mode: rule.mode };
  if (isApproved(before, policy)) return { ...introduced, isConfirmed: true };
  const unmetSince = unmetSinceOf(rule, before, seen);
  const isHeldByNode = isHeldHere(rule, previous, { ...seen, unmetSince, policy });
  if (isHeldByNode || isHeldElsewhere) {
    const held = { isConfirmed: false, unmetSince, heldBy: isHeldByNode ? 'Node' : 'Policy' } as const;
    return { ...introduced, ...before, ...held, unmetOnArrivalAt: undefined };
  }
  return { ...introduced, isConfirmed: true, unmetOnArrivalAt: unmetOnArrivalAt(rule, before, seen) };
}

function unmetSinceOf({ isMet }: Rule, before: RuleActivation | undefined, { now }: SeenRules): Instant | undefined {
  return isMet ? undefined : (before?.unmetSince ?? now);
}

/** A threshold that demands less than the one before it needs no proof, so nothing revokes it. */
function unmetOnArrivalAt(
  { isMet, asksForLess }: Rule,
  before: RuleActivation | undefined,
  { now }: SeenRules,
): Instant | undefined {
  return before === undefined && !isMet && !asksForLess ? now : undefined;
}

/**
 * Whether other nodes keep the rule from being enforced. They do not affect a rule that has been in force here for
 * long.
 */
function isHeld(
  { record, asksForLess }: Rule,
  before: RuleActivation | undefined,
  { name }: AgentPolicy,
  { now }: SeenRules,
): boolean {
  if (record === undefined || (before === undefined && asksForLess)) return false;
  if (before?.isConfirmed !== true) return true;
  return before.policy === name && before.generation === record.generation && isRevocable(before, now);
}

/** Whether a threshold was confirmed a short while ago only because its node did not meet it, as an empty node does. */
function isRevocable(activation: RuleActivation | undefined, now: Instant): boolean {
  const at = activation?.unmetOnArrivalAt;
  return activation?.isConfirmed === true && at !== undefined && now - at <= REVOCABLE_MS;
}

/** Whether the node itself met the rule and has not been relieved since. */
function isHeldHere(
  rule: Rule,
  previous: RuleActivations,
  { unmetSince, policy, now }: SeenRules & { readonly unmetSince: Instant | undefined; readonly policy: AgentPolicy },
): boolean {
  const before = previous?.get(rule.key);
  if (before === undefined) return rule.isMet && (rule.record !== undefined || !mayBegin(rule, previous));
  if (rule.isMet) return true;
  const wasHeldHere = !before.isConfirmed && before.heldBy !== 'Policy';
  return wasHeldHere && (unmetSince === undefined || now - unmetSince < policy.transitionPeriodMs);
}

function inMode(activation: RuleActivation, mode: Mode): RuleActivation {
  return { ...activation, mode: activation.mode === 'Enforce' ? 'Enforce' : mode };
}

/** Whether a rule acts from its first pass on. */
function mayBegin({ isMet, isShortAnyway, asksForLess }: Rule, previous: RuleActivations): boolean {
  return !isMet || asksForLess || (previous === undefined && isShortAnyway);
}

/**
 * Thresholds that stay in force although the policy does not have them. While a hard or soft threshold of a signal
 * waits for confirmation, this is the confirmed one before it, or without one the default, unless that demands more.
 */
export function keptThresholds(
  policy: AgentPolicy,
  activations: RuleActivations,
  observations: Observations,
): readonly Threshold[] {
  if (activations === undefined) return [];
  const own = new Set(policy.thresholds.map(({ id }) => id));
  const held = policy.thresholds.filter(({ id }) => isWaiting(activations.get(id)));
  return held.flatMap((threshold) => {
    const before = predecessorsOf(threshold, own, activations);
    if (before.length > 0) return before;
    return DEFAULT_POLICY.thresholds.filter(
      (each) => isSuccessor(threshold, each) && !own.has(each.id) && asksForAsMuch(threshold, each, observations),
    );
  });
}

function isWaiting(activation: RuleActivation | undefined): boolean {
  return activation?.isConfirmed !== true;
}

/** The enforced thresholds before those of the policy that `concerns` chooses. */
function predecessors(
  policy: AgentPolicy,
  activations: RuleActivations,
  concerns: (activation: RuleActivation | undefined) => boolean,
): readonly Threshold[] {
  if (activations === undefined) return [];
  const own = new Set(policy.thresholds.map(({ id }) => id));
  const successors = policy.thresholds.filter(({ id }) => concerns(activations.get(id)));
  return successors.flatMap((threshold) => predecessorsOf(threshold, own, activations));
}

function predecessorsOf(
  threshold: Threshold,
  own: ReadonlySet<string>,
  activations: RuleActivations,
): readonly Threshold[] {
  return enforcedThresholds(activations).filter((each) => isSuccessor(threshold, each) && !own.has(each.id));
}

/** Thresholds that were confirmed and acted; a former dry-run threshold is not enforced later. */
function enforcedThresholds(activations: RuleActivations): readonly Threshold[] {
  const confirmed = [...(activations ?? [])].filter(([, each]) => each.isConfirmed && each.mode === 'Enforce');
  return confirmed.flatMap(([key]) => thresholdOfId(key) ?? []);
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
  const first = waiting.find(([, { heldBy }]) => heldBy !== 'Policy') ?? waiting[0];
  if (first === undefined) return undefined;
  const [rule, { policy, generation, heldBy }] = first;
  const [kept] = keptThresholds(inForce, activations, pressure.observations);
  const seconds = inForce.transitionPeriodMs / 1000;
  const facts = { rule, policy, generation, waiting: waiting.length, seconds };
  const texts = { ...facts, kept: kept?.id };
  const known = { ...facts, ...(kept && { kept: kept.id }) };
  if (heldBy !== 'Policy') return REASONS.metOnArrival(texts, known);
  const node = holdingRecord(inForce.thresholdRecords, rule, inForce)?.nodes[0] ?? '';
  return REASONS.metElsewhere({ ...texts, node }, { ...known, node });
}

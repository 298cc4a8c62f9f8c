import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountOf, amountToRelieve, byUrgency, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import {
  isEvicting,
  type Observation,
  observe,
  type ThresholdSignal,
  resourceOf,
  type Signal,
} from '#shared/domain/pressure/signal.ts';
import { decidingFigure } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import type { Severity } from '#shared/decide/eviction/history/inflight-eviction.ts';
import {
  stallMode,
  thresholdMode,
  type Mode,
  type AgentPolicy,
  stallKey,
  type StallRule,
} from '#shared/api/node-pressure-policy/policy.ts';
import type { NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import type { MetStall, MetStalls } from './advance-stalls.ts';
import { observationFor, type ThresholdState } from './advance-thresholds.ts';
import { type RuleActivations, mayAct } from './rule-activation.ts';

/** What earlier passes have established about thresholds and stall rules. */
export interface TriggerState extends ThresholdState {
  readonly stalls: MetStalls;
  readonly activations: RuleActivations;
}

/** A threshold or stall rule that is met and may evict a pod, with the reason in words and numbers. */
export interface PressureTrigger {
  readonly signal: Signal;
  readonly stage: Severity;
  readonly mode: Mode;
  /** The threshold that messages quote: for a stall rule its evidence limit. */
  readonly threshold: Threshold;
  readonly observed: Observation | undefined;
  /** What must be freed, in the signal's unit; infinite for stalls, which have no amount. */
  readonly gap: number;
  /** Whether the resource is short right now: windows of stalls also cover the past. */
  readonly isPresent: boolean;
  readonly because: Because;
  /** Only pods in spare room may go for it. */
  readonly onlySpare?: boolean;
}

/** What is short, and why no further pod is evicted for it. */
export interface Shortage {
  readonly trigger: PressureTrigger;
  readonly closedGates: readonly Because[];
}

function thresholdBecause(threshold: Threshold, observed: Observation, figures: Because['facts']): Because {
  const { signal, gracePeriodSeconds } = threshold;
  const needed = formatQuantity(amountOf(threshold.value, observed));
  const available = formatQuantity(observed.available);
  const byKubelet = figures['kubeletAvailable'];
  const kubeletAvailable = byKubelet === undefined ? undefined : String(byKubelet);
  return REASONS.thresholdMet(
    { signal, isHard: isHard(threshold), available, kubeletAvailable, needed },
    { signal, available, threshold: needed, gracePeriodSeconds, ...figures },
  );
}

/** Which figure of a memory signal decided, and the kubelet's figure if another one did. */
function figuresOf(
  signal: ThresholdSignal,
  snapshot: TriggerContext['snapshot'],
  policy: AgentPolicy,
): Because['facts'] {
  const figure = decidingFigure(signal, snapshot, policy);
  const kubelets = figure === 'Reclaimable' ? observe(snapshot.readings).get(signal) : undefined;
  return {
    ...(figure === undefined ? {} : { figure }),
    ...(kubelets === undefined ? {} : { kubeletAvailable: formatQuantity(kubelets.available) }),
  };
}

/** The most urgent met threshold of each signal in each mode, in the order in which the kubelet would handle them. */
function thresholdTriggers(
  { pressure, recent, activations }: TriggerState,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): readonly PressureTrigger[] {
  const found = new Map<string, PressureTrigger>();
  for (const threshold of byUrgency(pressure.due)) {
    const observed = observationFor(threshold, pressure.observations, recent);
    if (observed === undefined || !isEvicting(threshold.signal)) continue;
    const mode = modeInForce(threshold, activations, policy);
    const key = `${mode} ${threshold.signal}`;
    if (!found.has(key)) found.set(key, thresholdTrigger(threshold, observed, { mode, snapshot, policy }));
  }
  return [...found.values()];
}

/** A threshold that may not act yet is only tried. */
export function modeInForce(threshold: Threshold, activations: RuleActivations, policy: AgentPolicy): Mode {
  return mayAct(activations, threshold.id) ? thresholdMode(threshold, policy) : 'DryRun';
}

export interface TriggerContext {
  readonly mode: Mode;
  readonly snapshot: Pick<NodeSnapshot, 'readings' | 'reclaimable'>;
  readonly policy: AgentPolicy;
}

/** The trigger of a threshold that is met by what was observed. */
export function thresholdTrigger(
  threshold: Threshold,
  observed: Observation,
  { mode, snapshot, policy }: TriggerContext,
): PressureTrigger {
  return {
    signal: threshold.signal,
    stage: isHard(threshold) ? 'severe' : 'mild',
    mode,
    threshold,
    observed,
    gap: quantityNumber(amountToRelieve(threshold, observed)) - quantityNumber(observed.available),
    isPresent: true,
    because: thresholdBecause(threshold, observed, figuresOf(threshold.signal, snapshot, policy)),
  };
}

/**
 * The evidence of a rule as a threshold, for the kubelet's message. The kubelet has no CPU signal, so the shape is that
 * of memory.
 */
function evidenceThreshold(rule: StallRule): Threshold {
  return {
    id: stallKey(rule),
    signal: 'memory.available',
    value: rule.evidence.below,
    gracePeriodSeconds: 1,
    minimumReclaim: undefined,
  };
}

/** The stall of a rule that has been met for its grace period. */
function lastingStall(rule: StallRule, stalls: MetStalls, now: Instant): MetStall | undefined {
  const met = stalls.get(stallKey(rule));
  return met !== undefined && now - met.since >= rule.gracePeriodMs ? met : undefined;
}

/** Triggers of stall rules, in the order of the policy. */
function stallTriggers(state: TriggerState, policy: AgentPolicy, now: Instant): readonly PressureTrigger[] {
  return policy.stallRules.flatMap((rule) => {
    const met = lastingStall(rule, state.stalls, now);
    return met === undefined ? [] : [stallTrigger(rule, met, state, policy)];
  });
}

function stallTrigger(
  rule: StallRule,
  { because, isWaiting }: MetStall,
  { pressure, activations }: TriggerState,
  policy: AgentPolicy,
): PressureTrigger {
  const isMemory = rule.evidence.signal === 'memory.available';
  return {
    signal: rule.signal,
    stage: 'mild',
    mode: mayAct(activations, stallKey(rule)) ? stallMode(rule, policy) : 'DryRun',
    threshold: evidenceThreshold(rule),
    observed: isMemory ? pressure.observations.get('memory.available') : undefined,
    gap: Number.POSITIVE_INFINITY,
    isPresent: isWaiting,
    because,
  };
}

/**
 * All triggers, most urgent first: met thresholds in the kubelet's order, then stall rules for resources without a met
 * threshold in the same mode.
 */
export function findTriggers(
  state: TriggerState,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): readonly PressureTrigger[] {
  const thresholds = thresholdTriggers(state, snapshot, policy);
  const spokenFor = new Set(thresholds.map(({ mode, signal }) => `${mode} ${resourceOf(signal)}`));
  const stalls = stallTriggers(state, policy, snapshot.now).filter(
    ({ mode, signal }) => !spokenFor.has(`${mode} ${resourceOf(signal)}`),
  );
  return [...thresholds, ...stalls];
}

import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { formatQuantity } from '#shared/domain/model/format-quantity.ts';
import { quantityNumber } from '#shared/domain/model/quantity.ts';
import { amountOf, amountToRelieve } from '#shared/domain/pressure/is-below.ts';
import { mostUrgent } from '#shared/domain/pressure/most-urgent.ts';
import { type Observation, observe } from '#shared/domain/pressure/observation.ts';
import type { KubeletSignal, Signal } from '#shared/domain/pressure/signal.ts';
import { isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import type { MetStalls } from './advance-stalls.ts';
import type { AgentState } from './agent-state.ts';
import { decidingFigure } from './deciding-observations.ts';
import type { Stage } from './inflight-eviction.ts';
import type { Look } from './look.ts';
import type { Mode } from '#agent/mode.ts';
import type { AgentPolicy } from '#agent/policy/policy.ts';
import type { StallRule } from '#agent/policy/stall-rule.ts';

/** What is short now and may cost a pod, with the reason in words and numbers. */
export interface Due {
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  /** What messages quote: for a stall rule the amount that had to be short as well. */
  readonly threshold: Threshold;
  readonly observed: Observation | undefined;
  /** What must come free, in the signal's unit; infinite where waiting has no amount. */
  readonly gap: number;
  readonly because: Because;
}

function thresholdBecause(threshold: Threshold, observed: Observation, figures: Because['facts']): Because {
  const { signal, gracePeriodSeconds } = threshold;
  const needed = formatQuantity(amountOf(threshold.value, observed));
  const available = formatQuantity(observed.available);
  const kind = isHard(threshold) ? 'hard' : 'soft';
  const { kubeletAvailable } = figures;
  const beside = kubeletAvailable === undefined ? '' : ` (${String(kubeletAvailable)} as the kubelet counts)`;
  return {
    code: isHard(threshold) ? 'HardThresholdMet' : 'SoftThresholdMet',
    text: `${signal} is ${available}${beside}, below the ${kind} threshold of ${needed}`,
    facts: { signal, available, threshold: needed, gracePeriodSeconds, ...figures },
  };
}

/** Which figure of a memory signal decided, and what the other one was. */
function figuresOf(signal: KubeletSignal, look: Look, policy: AgentPolicy): Because['facts'] {
  const figure = decidingFigure(signal, look, policy);
  const kubelets = figure === 'Reclaimable' ? observe(look.readings).get(signal) : undefined;
  return {
    ...(figure === undefined ? {} : { figure }),
    ...(kubelets === undefined ? {} : { kubeletAvailable: formatQuantity(kubelets.available) }),
  };
}

function dueThreshold({ pressure }: AgentState, look: Look, policy: AgentPolicy): Due | undefined {
  const threshold = mostUrgent(pressure.due);
  const observed = threshold && pressure.observations.get(threshold.signal);
  if (threshold === undefined || observed === undefined) return undefined;
  const isSevere = pressure.due.some((each) => each.signal === threshold.signal && isHard(each));
  return {
    signal: threshold.signal,
    stage: isSevere ? 'severe' : 'mild',
    mode: policy.mode,
    threshold,
    observed,
    gap: quantityNumber(amountToRelieve(threshold, observed)) - quantityNumber(observed.available),
    because: thresholdBecause(threshold, observed, figuresOf(threshold.signal, look, policy)),
  };
}

/** The evidence of a rule as a threshold, for the kubelet's sentence. CPU has no kubelet signal: its eviction quotes memory's shape. */
function evidenceThreshold({ evidence }: StallRule): Threshold {
  return {
    id: `evidence ${evidence.signal}`,
    signal: 'memory.available',
    value: evidence.below,
    gracePeriodSeconds: 1,
    minimumReclaim: undefined,
  };
}

function stricter(left: Mode, right: Mode): Mode {
  return left === 'Enforce' && right === 'Enforce' ? 'Enforce' : 'DryRun';
}

function hasLasted({ signal, gracePeriodMs }: StallRule, stalls: MetStalls, now: Instant): boolean {
  const met = stalls.get(signal);
  return met !== undefined && now - met.since >= gracePeriodMs;
}

function dueStall(state: AgentState, policy: AgentPolicy, now: Instant): Due | undefined {
  const rule = policy.stallRules.find((each) => hasLasted(each, state.stalls, now));
  const met = rule && state.stalls.get(rule.signal);
  if (rule === undefined || met === undefined) return undefined;
  return {
    signal: rule.signal,
    stage: 'mild',
    mode: stricter(policy.mode, rule.mode),
    threshold: evidenceThreshold(rule),
    observed:
      rule.evidence.signal === 'memory.available' ? state.pressure.observations.get('memory.available') : undefined,
    gap: Number.POSITIVE_INFINITY,
    because: met.because,
  };
}

/** What to act on: a met threshold first, as the kubelet orders them, then waiting that coincides with a shortage. */
export function findShortage(state: AgentState, look: Look, policy: AgentPolicy): Due | undefined {
  return dueThreshold(state, look, policy) ?? dueStall(state, policy, look.now);
}

import { quantityFromInteger, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import { amountOf, amountToRelieve, isHard, type Threshold } from '#shared/domain/pressure/threshold.ts';
import { type Observation, resourceOf } from '#shared/domain/pressure/signal.ts';
import type { AgentPolicy, Mode } from '#shared/api/node-pressure-policy/policy.ts';
import { MODES } from '#shared/api/node-pressure-policy/signal-table.ts';
import type { AgentState } from '#shared/decide/eviction/agent-state.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { allowsNoSecondEviction, expectedLoss, RELIEF_MS } from '#shared/decide/eviction/memory-trend.ts';
import { figureFor } from '#shared/decide/eviction/snapshot/deciding-figures.ts';
import { isTerminating, type NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { lossOf } from '#shared/decide/eviction/usage-growth.ts';
import { SECOND_MS } from '#shared/domain/base/durations.ts';
import { readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import { takerOf, withinRequestGate } from './passing-shortages.ts';
import { modeInForce, type PressureTrigger, thresholdTrigger, type TriggerContext } from './pressure-trigger.ts';

const SIGNAL = 'memory.available';
/** Kept above the hard threshold, as a share of the capacity: less than what lending keeps free besides. */
const RESERVED_SHARE = 0.02;
/** A pod that asks for longer is given less once memory runs out; its wish must not cost other pods their room. */
const MAX_GRACE_SECONDS = 30;

/**
 * The triggers, with one in each mode for pods in spare room before them unless a threshold on memory is met already in
 * that mode: it does without a grace period, and so early that these pods are gone before the hard threshold. What was
 * lent is needed back. Below the hard threshold they do not wait for a pod that grows within its request, as others do.
 */
export function withSpareLine(
  triggers: readonly PressureTrigger[],
  state: AgentState,
  snapshot: NodeSnapshot,
  policy: AgentPolicy,
): readonly PressureTrigger[] {
  const observed = state.pressure.observations.get(SIGNAL);
  const graceSeconds = longestGrace(snapshot, policy);
  if (observed === undefined || graceSeconds === undefined) return triggers;
  const waiting = withinRequestGate(takerOf(state), snapshot) === undefined ? [] : triggers.filter(isOfHardThreshold);
  const all = [...waiting.map((each) => ({ ...each, onlySpare: true })), ...triggers];
  if (isInVain(state, snapshot)) return all;
  const expected = lossWithin(RELIEF_MS + graceSeconds * SECOND_MS, quantityNumber(observed.available), state);
  const isMet = (mode: Mode): boolean =>
    triggers.some((each) => each.mode === mode && resourceOf(each.signal) === 'memory' && Number.isFinite(each.gap));
  const lines = MODES.filter((mode) => !isMet(mode)).flatMap((mode) => {
    // A threshold that is only tried must not keep the line of those that evict from evicting.
    const thresholds = policy.thresholds.filter(
      (each) => each.signal === SIGNAL && modeInForce(each, state.activations, policy) === mode,
    );
    return spareTriggers(thresholds, observed, expected, { mode, snapshot, policy });
  });
  return [...lines, ...all];
}

function isOfHardThreshold({ signal, stage }: PressureTrigger): boolean {
  return signal === SIGNAL && stage === 'severe';
}

function spareTriggers(
  thresholds: readonly Threshold[],
  observed: Observation,
  expected: number,
  context: TriggerContext,
): readonly PressureTrigger[] {
  const base = highest(thresholds, observed);
  if (base === undefined) return [];
  const available = quantityNumber(observed.available);
  const line = Math.ceil(floorOf(thresholds, observed) + expected);
  if (available >= line) return [];
  const threshold: Threshold = {
    ...base,
    value: { kind: 'amount', amount: quantityFromInteger(line, 'BinarySI') },
    gracePeriodSeconds: Math.max(1, base.gracePeriodSeconds),
    minimumReclaim: undefined,
  };
  const texts = { available: readableBytes(available), line: readableBytes(line), expected: readableBytes(expected) };
  const because = REASONS.spareRoomNeeded(texts, { signal: SIGNAL, available, line, expected: Math.round(expected) });
  return [{ ...thresholdTrigger(threshold, observed, context), because, onlySpare: true }];
}

/**
 * Whether memory is exhausted before a second eviction could follow the first, and no pod in spare room frees what is lost
 * meanwhile: its eviction would only hold up that of the pod which takes the memory.
 */
function isInVain({ trend }: AgentState, { pods, usage }: NodeSnapshot): boolean {
  if (!allowsNoSecondEviction(trend)) return false;
  const freed = pods.running
    .filter(({ isInSpareRoom }) => isInSpareRoom)
    .map(({ pod }) => figureFor(SIGNAL, usage.get(pod.uid)) ?? 0);
  return Math.max(0, ...freed) < expectedLoss(trend);
}

/** Seconds that the pods in spare room may take to stop; `undefined` without such a pod. */
function longestGrace({ pods }: NodeSnapshot, { mostGraceSeconds }: AgentPolicy): number | undefined {
  const spare = pods.running.filter(({ pod, isInSpareRoom }) => isInSpareRoom && !isTerminating(pod));
  if (spare.length === 0) return undefined;
  const wished = spare.map(({ pod }) => pod.spec.terminationGracePeriodSeconds ?? mostGraceSeconds);
  return Math.min(MAX_GRACE_SECONDS, mostGraceSeconds, Math.max(...wished));
}

/** The threshold that is met first as memory runs short. */
function highest(thresholds: readonly Threshold[], observed: Observation): Threshold | undefined {
  const needed = (each: Threshold): number => quantityNumber(amountToRelieve(each, observed));
  return thresholds.toSorted((a, b) => needed(b) - needed(a))[0];
}

/** What must be left in any case: no threshold is met, and some more above the hard ones. */
function floorOf(thresholds: readonly Threshold[], observed: Observation): number {
  const reserved = quantityNumber(observed.capacity) * RESERVED_SHARE;
  const floors = thresholds.map((each) => {
    const needed = quantityNumber(amountToRelieve(each, observed));
    return isHard(each) ? Math.max(needed, quantityNumber(amountOf(each.value, observed)) + reserved) : needed;
  });
  return Math.max(0, ...floors);
}

/** What will be lost within a time: at the rate of the last seconds, but no more than in the minutes before. */
function lossWithin(ms: number, available: number, { trend, growth }: AgentState): number {
  const atRate = (trend?.lastingRate ?? 0) * ms;
  return Math.max(0, Math.min(atRate, Math.max(0, ...lossOf(growth, available))));
}

import { FAMILIES } from '#shared/domain/nodes/plan-node-changes.ts';
import { ownerText } from '#shared/domain/pod/pod.ts';
import { readableAmount, readableBytes } from '#shared/domain/quantity/format-quantity.ts';
import {
  type AvoidEntry,
  type EvictionEntry,
  isFresh,
  type NextEntry,
  type NodePressure,
  type NodePressureStatus,
  type PressureConditionEntry,
  scarceSignals,
  type SignalEntry,
  worstSignal,
} from '#shared/api/node-pressure.ts';
import type { SpareEntry } from '#shared/api/spare-status.ts';
import { parseQuantity } from '#shared/domain/quantity/parse-quantity.ts';
import { quantityMilliNumber } from '#shared/domain/quantity/quantity.ts';
import type { AvoidView, EvictionView, NextView, NodeState, NodeSummary, NodeView, SignalView } from './view.ts';
import type { SpareAmountsView, SpareView } from './load.ts';
import type { ConditionView } from './condition.ts';

/** Types that report a shortage; all others report a desired state, such as `PoliciesRead`. */
const SHORTAGES: readonly string[] = FAMILIES;

/** One NodePressure for the page; `undefined` before its agent's first write. `now` is in milliseconds since 1970. */
export function nodeView(pressure: NodePressure, now: number): NodeView | undefined {
  const { status, name, avoid } = pressure;
  if (status === undefined) return undefined;
  const conditions = status.conditions.map(conditionView);
  return {
    ...summaryOf(name, status, isFresh(status, now)),
    troubles: conditions.filter(({ isTrouble }) => isTrouble).map(({ type }) => type),
    policy: status.policy ?? '',
    agent: status.agent?.version ?? '',
    conditions,
    readings: status.signals.map(signalView),
    candidates: status.next.map(nextView),
    evictions: status.evictions.map(evictionView),
    avoided: avoid.map(avoidView),
  };
}

/** A node whose agent has never reported. */
export function nodeWithoutAgent(name: string): NodeView {
  return {
    name,
    mode: '',
    policy: '',
    state: 'NoAgent',
    signals: [],
    observedAt: undefined,
    usedRatio: undefined,
    lineRatio: undefined,
    headroom: undefined,
    headroomRatio: undefined,
    next: undefined,
    pods: [],
    evicting: 0,
    troubles: [],
    spare: undefined,
    agent: '',
    conditions: [],
    readings: [],
    candidates: [],
    evictions: [],
    avoided: [],
  };
}

/** The row of a node. */
export function nodeSummary(view: NodeView): NodeSummary {
  const { name, mode, policy, state, signals, observedAt, usedRatio: used, lineRatio, ...rest } = view;
  const { headroom, headroomRatio, next, pods, evicting, troubles, spare } = rest;
  const memory = { usedRatio: used, lineRatio, headroom, headroomRatio };
  return { name, mode, policy, state, signals, observedAt, ...memory, next, pods, evicting, troubles, spare };
}

function summaryOf(name: string, status: NodePressureStatus, fresh: boolean): Omit<NodeSummary, 'troubles' | 'policy'> {
  const memory = status.signals.find((signal) => signal.name === 'memory.available');
  const state = fresh ? stateOf(status.signals) : 'Unknown';
  return {
    name,
    mode: status.mode,
    state,
    signals:
      state === 'Far' ? [] : scarceSignals(status.signals).flatMap((each) => (each.state === state ? [each.name] : [])),
    observedAt: status.observedAt,
    usedRatio: usedRatio(memory?.available, memory?.capacity),
    lineRatio: usedRatio(memory?.threshold, memory?.capacity),
    headroom: headroomOf(memory?.available, memory?.threshold),
    headroomRatio: headroomRatioOf(status.signals),
    next: status.next[0]?.pod,
    pods: [...new Set([...status.next, ...status.evictions].map(({ pod }) => pod))],
    evicting: status.evictions.filter(isInFlight).length,
    spare: spareView(status, fresh),
  };
}

function spareView({ spare, signals }: NodePressureStatus, fresh: boolean): SpareView | undefined {
  if (spare === undefined || !fresh) return undefined;
  const milliOf = (signal: string) => amountOf(signals.find(({ name }) => name === signal)?.capacity);
  const bytes = milliOf('memory.available');
  return {
    mode: spare.mode,
    memory: spareAmounts(spare.memory, bytes && bytes / 1000),
    cpu: spareAmounts(spare.cpu, milliOf('cpu.available')),
  };
}

function spareAmounts(entry: SpareEntry, capacity: number | undefined): SpareAmountsView {
  const { requested, used, p99, lendable, lent, taken, because } = entry;
  return { capacity, requested, used, p99, lendable, lent, taken, why: lendable > 0 ? '' : because.text };
}

/** The used share of one signal at one time. */
export interface MomentView {
  readonly at: number;
  readonly signal: string;
  readonly usedRatio: number;
}

/** The used shares at the node's evictions, oldest first, because these may fall between two reports. */
export function evictionMoments({ status }: NodePressure): readonly MomentView[] {
  const moments = (status?.evictions ?? []).flatMap(({ signal, requestedAt, because }) => {
    const { available } = because.facts;
    const capacity = status?.signals.find(({ name }) => name === signal)?.capacity;
    const ratio = typeof available === 'string' ? usedRatio(available, capacity) : undefined;
    return requestedAt === undefined || ratio === undefined ? [] : [{ at: requestedAt, signal, usedRatio: ratio }];
  });
  return moments.sort((a, b) => a.at - b.at);
}

function stateOf(signals: readonly SignalEntry[]): NodeState {
  return signals.length === 0 ? 'Unknown' : (worstSignal(signals)?.state ?? 'Far');
}

function isInFlight({ mode, requestedAt, endedAt, outcome }: EvictionEntry): boolean {
  return mode === 'Enforce' && requestedAt !== undefined && endedAt === undefined && IN_FLIGHT.includes(outcome);
}

/** Outcomes of an eviction whose pod may still be running (shared/decide/eviction/apply-outcome.ts). */
const IN_FLIGHT: readonly string[] = ['requested', 'evicted', 'foundEnding'];

function conditionView({ type, status, reason, message }: PressureConditionEntry): ConditionView {
  return { type, status, reason, message, isTrouble: status === (SHORTAGES.includes(type) ? 'True' : 'False') };
}

function signalView(signal: SignalEntry): SignalView {
  const { name, state, available, reclaimable, capacity, threshold } = signal;
  return {
    name,
    state,
    available: readableAmount(available ?? ''),
    capacity: readableAmount(capacity ?? ''),
    reclaimable: reclaimable && readableAmount(reclaimable),
    threshold: threshold && readableAmount(threshold),
    usedRatio: usedRatio(available, capacity),
    lineRatio: usedRatio(threshold, capacity),
  };
}

function nextView({ pod, priority, usage, request, because }: NextEntry, index: number): NextView {
  return {
    rank: index + 1,
    pod,
    priority,
    usage: usage && readableAmount(usage),
    request: request && readableAmount(request),
    why: because.text,
  };
}

function evictionView(eviction: EvictionEntry): EvictionView {
  const { pod, signal, stage, mode, outcome, requestedAt, endedAt, because } = eviction;
  return { pod, signal, stage, mode, outcome, requestedAt, endedAt, why: because.text };
}

function avoidView({ owner, until, cause, hard }: AvoidEntry): AvoidView {
  return { owner: ownerText(owner), until, cause, isHard: hard };
}

/** The used share of `capacity` when `available` is left; `undefined` if either is not an amount. */
function usedRatio(available: string | undefined, capacity: string | undefined): number | undefined {
  const left = amountOf(available);
  const all = amountOf(capacity);
  if (left === undefined || all === undefined || all <= 0) return undefined;
  return within(1 - left / all);
}

/** The used share of `hard`; `undefined` if either is not an amount or nothing is allowed. */
export function shareOf(used: string, hard: string): number | undefined {
  const taken = amountOf(used);
  const all = amountOf(hard);
  return taken === undefined || all === undefined || all <= 0 ? undefined : within(taken / all);
}

/** Bytes above a threshold in readable form; negative below it. */
function headroomOf(available: string | undefined, threshold: string | undefined): string | undefined {
  const left = amountOf(available);
  const line = amountOf(threshold);
  return left === undefined || line === undefined ? undefined : readableBytes((left - line) / 1000);
}

/** The smallest share of capacity that any signal with a threshold has above it. */
function headroomRatioOf(signals: readonly SignalEntry[]): number | undefined {
  const ratios = signals.flatMap(({ available, threshold, capacity }) => {
    const [left, line, all] = [amountOf(available), amountOf(threshold), amountOf(capacity)];
    return left === undefined || line === undefined || all === undefined || all <= 0 ? [] : [(left - line) / all];
  });
  return ratios.length === 0 ? undefined : Math.round(Math.min(...ratios) * 10_000) / 10_000;
}

function within(ratio: number): number {
  return Math.round(Math.min(1, Math.max(0, ratio)) * 10_000) / 10_000;
}

/** In thousandths; `undefined` if the text is not an amount. */
export function amountOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parsed = parseQuantity(text);
  return parsed.ok ? quantityMilliNumber(parsed.quantity) : undefined;
}

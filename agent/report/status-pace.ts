import type { NodePressureStatus } from '#shared/api/node-pressure.ts';
import type { SignalLevel } from './signal-state.ts';

/** The last written status, when it was written, and how long it stays valid while nothing happens. */
export interface Written {
  readonly status: NodePressureStatus;
  readonly atMs: number;
  readonly validMs: number;
}

const LEAST_MS = 1000;
/** Longest time between writes while a resource is short. */
const TROUBLE_MS = 20_000;
/** This share of the period is random, so that the agents of a rollout do not write in step. */
const SPREAD = 1 / 6;

/** How long a status stays valid on a quiet node: the period, or up to a sixth less. `random01` is in [0, 1). */
export function validForMs(periodMs: number, random01: number): number {
  return periodMs * (1 - SPREAD * random01);
}

/**
 * Whether to write now. Evictions and shortages are written within a second; amounts, nearness and the order of
 * candidates, which change all the time, when the status is no longer valid (docs/decisions/0016-status-writes.md).
 */
export function isStatusDue(status: NodePressureStatus, written: Written | undefined, nowMs: number): boolean {
  if (written === undefined) return true;
  const ageMs = nowMs - written.atMs;
  if (ageMs < LEAST_MS) return false;
  return ageMs >= longestAgeMs(status, written) || significantState(status) !== significantState(written.status);
}

function longestAgeMs(status: NodePressureStatus, { validMs }: Written): number {
  return isShort(status) ? Math.min(TROUBLE_MS, validMs) : validMs;
}

function isShort({ signals }: NodePressureStatus): boolean {
  return signals.some((signal) => lastingState(signal) !== 'Far');
}

/** Nearness and idle CPU change often; the condition shows when CPU is short. */
function lastingState({ name, state }: NodePressureStatus['signals'][number]): SignalLevel {
  return state === 'Near' || name === 'cpu.available' ? 'Far' : state;
}

/** The part of a status whose change counts as a change of state. */
function significantState(status: NodePressureStatus): string {
  const { mode, policy, conditions, signals, evictions, rules } = status;
  return JSON.stringify([
    mode,
    policy,
    conditions.map(({ type, status: value, reason }) => [type, value, reason]),
    signals.map((signal) => [signal.name, lastingState(signal), signal.threshold, signal.figure]),
    rules,
    evictions.map(({ uid, outcome, endedAt }) => [uid, outcome, endedAt]),
    isShort(status) ? status.next.map(({ uid }) => uid) : [],
  ]);
}

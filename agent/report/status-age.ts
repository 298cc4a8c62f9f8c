import type { NodePressureStatus, SignalEntry } from '#shared/api/node-pressure.ts';
import { reportedNumber } from '#shared/domain/quantity/parse-quantity.ts';
import type { SignalLevel } from './signal-state.ts';

/** The last written status, and when it was written. */
export interface WrittenStatus {
  readonly status: NodePressureStatus;
  readonly atMs: number;
  /** How long it stays valid while nothing happens. */
  readonly validMs: number;
  /** And if its figures have moved. */
  readonly movedMs: number;
}

/** Longest time for which the object shows figures that have moved since. */
const MOVED_MS = 120_000;
/** A figure has moved if it changed by this share of what there is. */
const MOVE = 0.05;
/** Longest time between writes while a resource is short. */
const TROUBLE_MS = 20_000;
/**
 * While spare room is lent, and what spare pods request of it has changed: the controller never offers less. And by an
 * agent that no kubelet probes: what it lends is withdrawn where it is silent for a minute.
 */
const LENDING_MS = 40_000;
/** Up to this share less at random, so that the agents of a rollout do not write in step. */
const SPREAD = 1 / 6;

/** What has been written now; `random01` is in [0, 1). */
export function writtenNow(
  status: NodePressureStatus,
  atMs: number,
  periodMs: number,
  random01: number,
): WrittenStatus {
  const share = 1 - SPREAD * random01;
  return { status, atMs, validMs: share * periodMs, movedMs: share * Math.min(periodMs, MOVED_MS) };
}

/**
 * Whether the object must show this status. Evictions and shortages are written within a second, the rest of what moves
 * within two minutes, and what stays as it is when the status is no longer valid
 * (docs/contributing/decisions/agent-sources.md).
 */
export function needsWriting(status: NodePressureStatus, written: WrittenStatus | undefined, nowMs: number): boolean {
  if (written === undefined) return true;
  return (
    isOutdated(status, written, nowMs - written.atMs) || significantState(status) !== significantState(written.status)
  );
}

function isOutdated(
  status: NodePressureStatus,
  { status: written, validMs, movedMs }: WrittenStatus,
  ageMs: number,
): boolean {
  const longestMs = Math.min(
    validMs,
    isShort(status) ? TROUBLE_MS : Infinity,
    isLending(status) && (isUnprobed(status) || taken(status) !== taken(written)) ? LENDING_MS : Infinity,
  );
  return ageMs >= longestMs || (ageMs >= movedMs && hasMoved(status, written));
}

/** Idle CPU moves all the time; which pods wait for it or take most of it is shown by their entries. */
function hasMoved(status: NodePressureStatus, written: NodePressureStatus): boolean {
  return podsShown(status) !== podsShown(written) || status.signals.some((signal) => isOther(signal, written));
}

/** In percent; less is noise. */
const WAITING_STEP = 20;

function podsShown({ next, pods = [] }: NodePressureStatus): string {
  const step = (percent: number | undefined): number => Math.round((percent ?? 0) / WAITING_STEP);
  const entries = pods.map(({ uid, oomKills, waiting: { cpu, memory, io } }) => [
    uid,
    oomKills,
    ...[cpu, memory, io].map(step),
  ]);
  return JSON.stringify([next.map(({ uid }) => uid), entries]);
}

function isOther({ name, capacity, ...now }: SignalEntry, { signals }: NodePressureStatus): boolean {
  const then = signals.find((signal) => signal.name === name);
  const most = MOVE * (reportedNumber(capacity) ?? 0);
  const isFar = (left: string | undefined, right: string | undefined): boolean =>
    Math.abs((reportedNumber(left) ?? 0) - (reportedNumber(right) ?? 0)) > most;
  if (name === 'cpu.available') return false;
  return now.state !== then?.state || isFar(now.available, then.available) || isFar(now.reclaimable, then.reclaimable);
}

function isShort({ signals }: NodePressureStatus): boolean {
  return signals.some((signal) => lastingState(signal) !== 'Far');
}

/** An agent that runs in no pod. */
function isUnprobed({ agent }: NodePressureStatus): boolean {
  return agent === undefined || agent.pod === '';
}

/** Whether the node lends spare room. */
export function isLending({ spare }: NodePressureStatus): boolean {
  return spare?.mode === 'Enforce' && spare.memory.lent + spare.cpu.lent > 0;
}

/** Nearness and idle CPU change often; the condition shows when CPU is short. */
function lastingState({ name, state }: NodePressureStatus['signals'][number]): SignalLevel {
  return state === 'Near' || name === 'cpu.available' ? 'Far' : state;
}

function spareAmounts({ spare }: NodePressureStatus): readonly unknown[] {
  return [spare?.mode, spare?.memory.lent, spare?.cpu.lent];
}

function taken({ spare }: NodePressureStatus): string {
  return [spare?.memory.taken, spare?.cpu.taken].join(' ');
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
    spareAmounts(status),
    status.throttled?.map(({ uid, to }) => [uid, to]),
  ]);
}

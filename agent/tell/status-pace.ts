import type { NodePressureStatus } from './node-pressure-status.ts';

/** What was written last, and when. */
export interface Written {
  readonly status: NodePressureStatus;
  readonly atMs: number;
}

/** Older than 60 s counts as unknown, so a quiet node writes well within that. */
const QUIET_MS = 20_000;
const LEAST_MS = 1000;

/** What counts as a change of state; amounts change all the time. */
function essence({ mode, policy, conditions, signals, next, evictions, rules }: NodePressureStatus): string {
  return JSON.stringify([
    mode,
    policy,
    conditions.map(({ type, status, reason }) => [type, status, reason]),
    signals.map(({ name, state, threshold, figure }) => [name, state, threshold, figure]),
    next.map(({ uid }) => uid),
    rules,
    evictions.map(({ uid, outcome, endedAt }) => [uid, outcome, endedAt]),
  ]);
}

/** Whether to write now: at once on a change of state, but at most once a second; else every 20 s. */
export function isStatusDue(status: NodePressureStatus, written: Written | undefined, nowMs: number): boolean {
  if (written === undefined) return true;
  const ageMs = nowMs - written.atMs;
  if (ageMs < LEAST_MS) return false;
  return ageMs >= QUIET_MS || essence(status) !== essence(written.status);
}

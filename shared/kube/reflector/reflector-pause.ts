import type { Clock } from '#shared/runtime/clock.ts';

/** How long to wait before the next list or watch, and what may end that sooner. Milliseconds. */
export interface ReflectorPause {
  readonly delayMs: number;
  /** As long as the server asked to be left alone: nothing shortens that. */
  readonly retryAfterMs: number;
  /** Asked every second; true ends the pause. */
  readonly isUrgent: () => boolean;
}

/** Even what is urgent asks no oftener than this. */
const STEP_MS = 1000;

/** Waits until the delay is over, or something is urgent, or the signal aborts. */
export async function waitForTurn(
  { delayMs, retryAfterMs, isUrgent }: ReflectorPause,
  clock: Pick<Clock, 'monotonic' | 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const until = clock.monotonic() + Math.max(delayMs, retryAfterMs);
  await clock.sleep(Math.max(retryAfterMs, Math.min(delayMs, STEP_MS)), signal);
  for (let left = leftUntil(until, clock); left > 0 && !signal.aborted && !isUrgent(); left = leftUntil(until, clock))
    await clock.sleep(Math.min(left, STEP_MS), signal);
}

function leftUntil(until: number, clock: Pick<Clock, 'monotonic'>): number {
  return until - clock.monotonic();
}

import { type Clock, withDeadline } from './clock.ts';

export interface Repetition {
  /** One round; its signal aborts at the deadline and at shutdown. */
  readonly task: (signal: AbortSignal) => Promise<void>;
  /** From start to start, in milliseconds; a function is called after every round. */
  readonly periodMs: number | (() => number);
  readonly deadlineMs: number;
  /** Pauses after failures; without it the usual period applies. */
  readonly backoff?: Backoff;
  /** Called after every failed round with the number of failures in a row. */
  readonly onError: (error: unknown, failuresInARow: number) => void;
  /** Called after every round that did not fail. */
  readonly onDone?: () => void;
  readonly clock: Clock;
  readonly random?: () => number;
}

/**
 * Runs the task repeatedly until `signal` aborts, one round at a time: a round that exceeds its deadline is aborted and
 * awaited. Resolves after the last round; never rejects.
 */
export async function repeat(repetition: Repetition, signal: AbortSignal): Promise<void> {
  const { clock } = repetition;
  let failures = 0;
  while (!signal.aborted) {
    const startedAt = clock.monotonic();
    failures = await runRound(repetition, failures, signal);
    await clock.sleep(pause(repetition, failures, clock.monotonic() - startedAt), signal);
  }
}

async function runRound(repetition: Repetition, failures: number, signal: AbortSignal): Promise<number> {
  try {
    await withDeadline(repetition.task, repetition.deadlineMs, repetition.clock, signal);
    repetition.onDone?.();
    return 0;
  } catch (error) {
    if (signal.aborted) return failures;
    repetition.onError(error, failures + 1);
    return failures + 1;
  }
}

function pause(repetition: Repetition, failures: number, elapsedMs: number): number {
  const { periodMs, backoff, random = Math.random } = repetition;
  if (failures > 0 && backoff !== undefined) return backoffDelay(backoff, failures - 1, random());
  const period = typeof periodMs === 'function' ? periodMs() : periodMs;
  return Math.max(0, period - elapsedMs);
}

/** How pauses grow with each failure. */
export interface Backoff {
  readonly initialMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Random share of the delay: 0 for the full delay, 1 for anything from 0 to it. */
  readonly jitter: number;
}

/**
 * The delay in milliseconds before retry number `attempt` (0 = after the first failure). `random01` is a number in [0,
 * 1), passed in so that the result depends only on the inputs.
 */
export function backoffDelay(backoff: Backoff, attempt: number, random01: number): number {
  const grown = Math.min(backoff.maxMs, backoff.initialMs * backoff.factor ** attempt);
  return grown * (1 - backoff.jitter * random01);
}

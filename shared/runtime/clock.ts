import { performance } from 'node:perf_hooks';
import { once, setMaxListeners } from 'node:events';

/** The only source of time: processes use `systemClock`, tests a manual clock. */
export interface Clock {
  /** Wall time, milliseconds since 1970-01-01T00:00:00Z; for text and timestamps, never for intervals. */
  now(): number;
  /** Milliseconds that only increase; for intervals and deadlines. */
  monotonic(): number;
  /** Resolves after `ms`, or at once if `signal` aborts; never rejects because of the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The maximum delay of a timer; above it Node fires after 1 ms. */
export const MAX_DELAY_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  sleep,
};

function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  assertDelay(ms);
  if (signal?.aborted === true) return Promise.resolve();
  return new Promise((resolve) => {
    const finish = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', finish);
      resolve();
    };
    const timer = setTimeout(finish, ms);
    signal?.addEventListener('abort', finish, { once: true });
  });
}

/** Throws RangeError for a delay that a timer would silently turn into 1 ms. */
export function assertDelay(ms: number): void {
  if (ms >= 0 && ms <= MAX_DELAY_MS) return;
  throw new RangeError(`cannot wait ${ms} ms: expected 0 to ${MAX_DELAY_MS}`);
}

/** The abort reason of a task whose time is over. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/**
 * Runs `task` with a signal that aborts with `outer` or after `ms` on the given clock. Returns the result of the task,
 * and waits for a task that ignores its signal.
 */
export async function withDeadline<T>(
  task: (signal: AbortSignal) => Promise<T>,
  ms: number,
  clock: Clock,
  outer: AbortSignal,
): Promise<T> {
  const limited = new AbortController();
  const timer = new AbortController();
  const release = forwardAbort(outer, limited);
  void clock.sleep(ms, timer.signal).then(() => {
    if (!timer.signal.aborted) limited.abort(new DeadlineError(`Not finished within ${ms} ms`));
  });
  try {
    return await task(limited.signal);
  } finally {
    timer.abort();
    release();
  }
}

/**
 * Aborts `to` when `from` aborts, until the returned function is called. `AbortSignal.any()` would be shorter, but a
 * long-lived source keeps memory for each signal derived from it.
 */
export function forwardAbort(from: AbortSignal, to: AbortController): () => void {
  const forward = (): void => to.abort(from.reason);
  if (from.aborted) forward();
  from.addEventListener('abort', forward);
  return () => from.removeEventListener('abort', forward);
}

/** Never aborts. Every open request listens to it; Node.js 20 takes more than ten listeners for a leak. */
export const NOT_ABORTED = new AbortController().signal;
setMaxListeners(0, NOT_ABORTED);

/** Resolves when the signal aborts; at once if it has aborted. */
export async function untilAborted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

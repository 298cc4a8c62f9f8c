import { performance } from 'node:perf_hooks';

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

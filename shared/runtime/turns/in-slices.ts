import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#shared/runtime/clock.ts';

/** Short enough that no caller notices the wait. */
const SLICE_MS = 5;

/**
 * Does work that comes in small steps, some milliseconds at a time, so that whatever else the process does goes on in
 * between. Rejects with the signal's reason when it aborts, and with what a step throws.
 */
export async function inSlices<T>(
  steps: Iterator<undefined, T>,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const sliceEnd = clock.monotonic() + SLICE_MS;
    while (clock.monotonic() < sliceEnd) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
    await setImmediate();
  }
}

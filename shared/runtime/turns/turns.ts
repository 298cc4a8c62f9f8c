import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#shared/runtime/clock.ts';

/** Resolves once the event loop has processed pending input: the first immediate still belongs to the current turn. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Short enough that no caller notices the wait. */
const CHUNK_MS = 5;

/**
 * Runs small steps for some milliseconds at a time and yields to the event loop in between. Rejects with the signal's
 * reason if it aborts, or with the error of a step.
 */
export async function inChunks<T>(
  steps: Iterator<undefined, T>,
  clock: Pick<Clock, 'monotonic'>,
  signal: AbortSignal,
): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    const chunkEnd = clock.monotonic() + CHUNK_MS;
    while (clock.monotonic() < chunkEnd) {
      const step = steps.next();
      if (step.done === true) return step.value;
    }
    await setImmediate();
  }
}

/** Short enough that no caller notices the wait. */
const TURN_MS = 2;

/**
 * The same pieces, but yields to the event loop after some milliseconds of work on them. Without this, pieces that have
 * already arrived are passed on without a break, and everything else in the process waits for all of them.
 */
export async function* yielding<T>(pieces: AsyncIterable<T>, clock: Pick<Clock, 'monotonic'>): AsyncGenerator<T> {
  let spentMs = 0;
  for await (const piece of pieces) {
    const startedAt = clock.monotonic();
    yield piece;
    spentMs += clock.monotonic() - startedAt;
    if (spentMs < TURN_MS) continue;
    await nextTurn();
    spentMs = 0;
  }
}

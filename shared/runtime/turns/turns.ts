import { setImmediate } from 'node:timers/promises';
import type { Clock } from '#shared/runtime/clock.ts';

/** Resolves once the event loop has looked at what came in meanwhile: the first immediate still belongs to this turn. */
export async function nextTurn(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

/** Short enough that no caller notices the wait. */
const CHUNK_MS = 5;

/**
 * Does work that comes in small steps, some milliseconds at a time, so that whatever else the process does goes on in
 * between. Rejects with the signal's reason when it aborts, and with what a step throws.
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
 * The same pieces, with a turn of the event loop whenever some milliseconds were spent on them: pieces that have already
 * arrived are otherwise handed out one after the other, and whatever else the process does waits for all of them.
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

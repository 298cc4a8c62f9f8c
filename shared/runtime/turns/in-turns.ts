import type { Clock } from '#shared/runtime/clock.ts';
import { nextTurn } from './next-turn.ts';

/** Short enough that no caller notices the wait. */
const TURN_MS = 2;

/**
 * The same pieces, with a turn of the event loop whenever some milliseconds were spent on them: pieces that have already
 * arrived are otherwise handed out one after the other, and whatever else the process does waits for all of them.
 */
export async function* inTurns<T>(pieces: AsyncIterable<T>, clock: Pick<Clock, 'monotonic'>): AsyncGenerator<T> {
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

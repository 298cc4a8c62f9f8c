import type { Clock } from '#shared/runtime/clock.ts';

/** How many bytes are read per second. Unused bytes are saved, up to `burst`. */
export interface BytePace {
  readonly perSecond: number;
  readonly burst: number;
}

/** Waits until so many bytes may be read. */
export type SpendBytes = (bytes: number) => Promise<void>;

/** The pace of all streams of one reflector. The first bytes, such as a usual list, are read at once. */
export function createBytePace({ perSecond, burst }: BytePace, clock: Pick<Clock, 'monotonic' | 'sleep'>): SpendBytes {
  let credit = burst;
  let countedAt = clock.monotonic();

  return async (bytes) => {
    const now = clock.monotonic();
    credit = Math.min(burst, credit + ((now - countedAt) * perSecond) / 1000) - bytes;
    countedAt = now;
    if (credit < 0) await clock.sleep((-credit / perSecond) * 1000);
  };
}

/** The same pieces, each after the wait for its bytes; the sender is held back meanwhile. */
export async function* paced(pieces: AsyncIterable<Buffer>, spend: SpendBytes): AsyncGenerator<Buffer> {
  for await (const piece of pieces) {
    await spend(piece.length);
    yield piece;
  }
}

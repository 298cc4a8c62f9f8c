import type { Slice } from '#shared/domain/quota/slice.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** Slices whose holders have not written for long. */
export interface SilentSlices {
  /** What slices there are now; returns which of them a count that begins now may hold for dead. */
  look(slices: Iterable<Slice>): (slice: Slice) => boolean;
}

interface Heard {
  readonly renewals: number;
  /** By our own clock. */
  readonly since: number;
}

/**
 * A slice is dead `deadAfterMs` after its last sign of life. A sign of life that came after the look shows in
 * `renewals`, and then it is not.
 */
export function createSilentSlices(clock: Clock, deadAfterMs: number): SilentSlices {
  let heard = new Map<string, Heard>();
  return {
    look: (slices) => {
      const now = clock.monotonic();
      const all = Array.from(slices, ({ holder, renewals }): [string, Heard] => {
        const before = heard.get(holder);
        return [holder, before?.renewals === renewals ? before : { renewals, since: now }];
      });
      heard = new Map(all);
      const dead = new Map(all.filter(([, { since }]) => now - since >= deadAfterMs));
      return ({ holder, renewals }) => dead.get(holder)?.renewals === renewals;
    },
  };
}

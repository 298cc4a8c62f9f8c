/** Random numbers that a seed decides, so that a failing run can be had again. */
export interface RandomSource {
  /** In [0, 1). */
  readonly next: () => number;
  /** A whole number from 0 up to, not including, `limit`. */
  below(limit: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
  shuffled<T>(items: readonly T[]): readonly T[];
}

/** A small generator (mulberry32). */
export function randomSource(seed: number): RandomSource {
  let state = seed >>> 0;
  function next(): number {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  return {
    next,
    below: (limit) => Math.floor(next() * limit),
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[Math.floor(next() * items.length)];
      if (item === undefined) throw new Error('cannot pick from nothing');
      return item;
    },
    shuffled: (items) => {
      const places = items.map((item) => ({ item, place: next() }));
      return places.toSorted((a, b) => a.place - b.place).map(({ item }) => item);
    },
  };
}

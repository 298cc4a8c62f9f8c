import type { RandomSource } from '#test/fakes/random-source.ts';

/** One of the items, of which some are absent values. */
export function oneOf<T>(random: RandomSource, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}

/** The fields with this probability, else none. */
export function sometimes<T extends object>(random: RandomSource, probability: number, fields: T): Partial<T> {
  return random.chance(probability) ? fields : {};
}

/** The fields if the condition holds, else none. */
export function fieldsIf<T extends object>(condition: boolean, fields: T): Partial<T> {
  return condition ? fields : {};
}

import type { Reflector } from './reflector.ts';

/** A value computed from the objects of reflectors, recomputed only after one of them has changed. */
export function derived<A extends readonly unknown[], T>(
  reflectors: readonly Pick<Reflector<unknown>, 'onChange'>[],
  compute: (...args: A) => T,
): (...args: A) => T {
  let kept: { readonly value: T } | undefined;
  for (const reflector of reflectors) reflector.onChange(() => (kept = undefined));
  return (...args) => (kept ??= { value: compute(...args) }).value;
}

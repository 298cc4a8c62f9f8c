import type { Clock } from '#shared/runtime/clock.ts';

/** What is not tried again for a while, by a name of its own. */
export interface Pauses {
  readonly has: (name: string) => boolean;
  readonly add: (name: string, ms: number) => void;
}

export function createPauses(clock: Pick<Clock, 'monotonic'>): Pauses {
  const until = new Map<string, number>();
  const has = (name: string): boolean => (until.get(name) ?? -Infinity) > clock.monotonic();

  function add(name: string, ms: number): void {
    for (const each of until.keys()) if (!has(each)) until.delete(each);
    until.set(name, clock.monotonic() + ms);
  }
  return { has, add };
}

import type { Clock } from '#shared/runtime/clock.ts';

/** Time that stands still until it is moved on, as clocks show it that go wrong each in its own way. */
export interface ModelTime {
  now(): number;
  /** Wakes the sleepers in order. */
  advance(ms: number): void;
  /** A clock that is ahead by `offsetMs` and goes `rate` times as fast as it should. */
  clock(offsetMs: number, rate: number): Clock;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

export function createModelTime(): ModelTime {
  let now = 0;
  let sleepers: Sleeper[] = [];
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
      const due = sleepers.filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
      sleepers = sleepers.filter(({ at }) => at > now);
      for (const { wake } of due) wake();
    },
    clock: (offsetMs, rate) => ({
      now: () => now + offsetMs,
      monotonic: () => Math.abs(offsetMs) + now * rate,
      sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms / rate, wake })),
    }),
  };
}

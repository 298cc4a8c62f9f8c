import type { Clock } from '#shared/runtime/clock.ts';

/** Time that stands still until it is moved on, as clocks show it that go wrong each in its own way. */
export interface ModelTime {
  now(): number;
  /** Wakes the sleepers in order, but for those whose process is stopped. */
  advance(ms: number): void;
  /** Does it now, or once the process that it is for is no longer stopped. */
  whenAwake(isStopped: () => boolean, action: () => void): void;
  /** A clock that is ahead by `offsetMs` and goes `rate` times as fast as it should, also while its process is stopped. */
  clock(options: ModelClockOptions): Clock;
}

export interface ModelClockOptions {
  readonly offsetMs: number;
  readonly rate: number;
  readonly isStopped: () => boolean;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
  readonly isStopped: () => boolean;
}

export function createModelTime(): ModelTime {
  let now = 0;
  let sleepers: Sleeper[] = [];
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
      const isDue = ({ at, isStopped }: Sleeper): boolean => at <= now && !isStopped();
      const due = sleepers.filter(isDue).sort((a, b) => a.at - b.at);
      sleepers = sleepers.filter((each) => !isDue(each));
      for (const { wake } of due) wake();
    },
    whenAwake: (isStopped, action) => {
      if (isStopped()) sleepers.push({ at: now, wake: action, isStopped });
      else action();
    },
    clock: ({ offsetMs, rate, isStopped }) => ({
      now: () => now + offsetMs,
      monotonic: () => Math.abs(offsetMs) + now * rate,
      sleep: (ms) => new Promise((wake) => sleepers.push({ at: now + ms / rate, wake, isStopped })),
    }),
  };
}

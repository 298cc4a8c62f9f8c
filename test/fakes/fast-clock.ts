import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { letTimePass } from '#test/build/waiting.ts';

/** The system's clock, by which intervals pass so many times as fast; wall time is that of the system. */
export function fastClock(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * factor,
    sleep: (ms, signal) => letTimePass(ms / factor, 'double', signal),
  };
}

import { type Clock, assertDelay } from '#shared/runtime/clock.ts';

export interface ManualClock extends Clock {
  /** Moves time on, waking sleepers in order and letting their work settle in between. */
  advance(ms: number): Promise<void>;
  /** Moves wall time alone, as an administrator or NTP does. */
  setWallTime(ms: number): void;
  /** How many sleepers wait. */
  readonly sleepers: number;
}

interface Sleeper {
  readonly wakeAt: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is moved. */
export function manualClock(startMs = Date.UTC(2026, 0, 1)): ManualClock {
  const sleepers = new Set<Sleeper>();
  let elapsed = 0;
  let wallOffset = startMs;

  function sleep(ms: number, signal?: AbortSignal): Promise<void> {
    assertDelay(ms);
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = (): void => {
        sleepers.delete(sleeper);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const sleeper = { wakeAt: elapsed + ms, wake };
      sleepers.add(sleeper);
      signal?.addEventListener('abort', wake, { once: true });
    });
  }

  async function advance(ms: number): Promise<void> {
    const until = elapsed + ms;
    await settle();
    for (let next = earliest(sleepers, until); next !== undefined; next = earliest(sleepers, until)) {
      elapsed = Math.max(elapsed, next.wakeAt);
      next.wake();
      await settle();
    }
    elapsed = until;
  }

  return {
    now: () => wallOffset + elapsed,
    monotonic: () => elapsed,
    sleep,
    advance,
    setWallTime: (ms) => void (wallOffset = ms - elapsed),
    get sleepers() {
      return sleepers.size;
    },
  };
}

function earliest(sleepers: ReadonlySet<Sleeper>, until: number): Sleeper | undefined {
  return [...sleepers].filter(({ wakeAt }) => wakeAt <= until).sort((a, b) => a.wakeAt - b.wakeAt)[0];
}

/** Lets promise chains and immediates run to rest. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { absent, failed, reading, type Reading } from './reading.ts';
import type { SourceHealth } from './watched-source.ts';

/** A slow source (a disk, the kubelet, a library): polled at its own interval, read from memory. */
export interface PolledSource<T> {
  readonly name: string;
  /** Polls once; never rejects. */
  readonly poll: (signal: AbortSignal) => Promise<void>;
  /** The last answer, or failed once it is older than its time to live. */
  readonly latest: () => Reading<T>;
  /** Monotonic milliseconds of the last answer. */
  readonly health: () => SourceHealth;
}

interface PolledSourceOptions<T> {
  readonly name: string;
  readonly ask: (signal: AbortSignal) => Promise<T>;
  /** An older answer counts as missing: a stale reading never causes an eviction. */
  readonly timeToLiveMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Nothing is read before the first `poll`. */
export function createPolledSource<T>(options: PolledSourceOptions<T>): PolledSource<T> {
  const { name, ask, timeToLiveMs, clock } = options;
  let answer: Reading<T> = absent(`${name} was not asked yet`);
  let answeredAtMs: number | undefined;
  let durationMs = 0;
  let failures = 0;

  async function poll(signal: AbortSignal): Promise<void> {
    const startedAt = clock.monotonic();
    try {
      answer = reading(await ask(signal));
      answeredAtMs = clock.monotonic();
    } catch (error) {
      failures += 1;
      answer = failed(`cannot read ${name}: ${errorText(error)}`);
    }
    durationMs = clock.monotonic() - startedAt;
  }

  function latest(): Reading<T> {
    if (answer.kind !== 'reading' || answeredAtMs === undefined) return answer;
    const ageMs = clock.monotonic() - answeredAtMs;
    return ageMs <= timeToLiveMs ? answer : failed(`the last answer of ${name} is ${Math.round(ageMs)} ms old`);
  }

  function health(): SourceHealth {
    const state = latest();
    return {
      name,
      state: state.kind,
      because: state.kind === 'reading' ? undefined : state.because,
      lastReadingAtMs: answeredAtMs,
      durationMs,
      failures,
    };
  }
  return { name, poll, latest, health };
}

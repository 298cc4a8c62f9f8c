import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { absent, failed, reading, type Reading, type Source } from './reading.ts';

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
  /** An older answer counts as missing, because a stale reading must never cause an eviction. */
  readonly timeToLiveMs: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/** Nothing is read before the first `poll`. */
export function createPolledSource<T>(options: PolledSourceOptions<T>): PolledSource<T> {
  const { name, ask, timeToLiveMs, clock } = options;
  let answer: Reading<T> = absent(`${name} was not read yet`);
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

/** The health of a source, for metrics, `/readyz` and the NodePressure status. */
export interface SourceHealth {
  readonly name: string;
  readonly state: 'reading' | 'absent' | 'failed' | 'unread';
  readonly because: string | undefined;
  /** Monotonic time of the last reading in milliseconds; `undefined` before the first. */
  readonly lastReadingAtMs: number | undefined;
  readonly durationMs: number;
  readonly failures: number;
}

/** A source that records its own health. */
export interface WatchedSource<T> extends Source<T> {
  readonly health: () => SourceHealth;
}

/**
 * Wraps a source: times each read, counts failures, and turns an exception into `failed`, so that no source affects
 * another.
 */
export function watchSource<T>(source: Source<T>, clock: Pick<Clock, 'monotonic'>): WatchedSource<T> {
  let health: SourceHealth = {
    name: source.name,
    state: 'unread',
    because: undefined,
    lastReadingAtMs: undefined,
    durationMs: 0,
    failures: 0,
  };

  function attempt(): Reading<T> {
    try {
      return source.read();
    } catch (error) {
      return { kind: 'failed', because: `cannot read source ${source.name}: ${String(error)}` };
    }
  }

  function read(): Reading<T> {
    const startedAt = clock.monotonic();
    const answer = attempt();
    const now = clock.monotonic();
    health = {
      name: source.name,
      state: answer.kind,
      because: answer.kind === 'reading' ? undefined : answer.because,
      lastReadingAtMs: answer.kind === 'reading' ? now : health.lastReadingAtMs,
      durationMs: now - startedAt,
      failures: health.failures + (answer.kind === 'failed' ? 1 : 0),
    };
    return answer;
  }
  return { name: source.name, read, close: source.close, health: () => health };
}

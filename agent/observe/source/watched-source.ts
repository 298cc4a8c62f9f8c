import type { Clock } from '#shared/runtime/clock.ts';
import type { Reading, Source } from './reading.ts';

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

import type { Clock } from '#shared/runtime/clock.ts';
import { errorText } from '#shared/runtime/describe-error.ts';

/**
 * The result of reading a source: a value, *absent* (this node does not have it: no PSI, no such cgroup) or *failed*
 * (it exists but could not be read). Absent and failed never count as zero.
 */
export type Reading<T> = { readonly kind: 'reading'; readonly value: T } | Missing;

export type Missing = Absent | Failed;

export interface Absent {
  readonly kind: 'absent';
  readonly because: string;
}

export interface Failed {
  readonly kind: 'failed';
  readonly because: string;
}

/** Something that can be read repeatedly; `read` never throws, `close` may be called more than once. */
export interface Source<T> {
  readonly name: string;
  readonly read: () => Reading<T>;
  readonly close: () => void;
}

export function reading<T>(value: T): Reading<T> {
  return { kind: 'reading', value };
}

export function absent(because: string): Absent {
  return { kind: 'absent', because };
}

export function failed(because: string): Failed {
  return { kind: 'failed', because };
}

/** The value that was read; `undefined` if it is missing. */
export function valueOf<T>(answer: Reading<T> | undefined): T | undefined {
  return answer?.kind === 'reading' ? answer.value : undefined;
}

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

/**
 * Whether something expected has been missing for so long that it counts as lost:
 *
 *     there ── missing for lostMs ──▶ lost ── there for foundMs ──▶ there
 */
export interface Presence {
  readonly isPresent: boolean;
  /** Since when `isPresent` has not changed. */
  readonly sinceMs: number;
  readonly isLost: boolean;
}

export interface Patience {
  readonly lostMs: number;
  readonly foundMs: number;
}

/** Before the first observation it counts as present. */
export function presentSince(nowMs: number): Presence {
  return { isPresent: true, sinceMs: nowMs, isLost: false };
}

/** The presence after one more observation. */
export function advancePresence(
  previous: Presence,
  isPresent: boolean,
  { lostMs, foundMs }: Patience,
  nowMs: number,
): Presence {
  const sinceMs = isPresent === previous.isPresent ? previous.sinceMs : nowMs;
  const lastedMs = nowMs - sinceMs;
  const isLost = previous.isLost ? !isPresent || lastedMs < foundMs : !isPresent && lastedMs >= lostMs;
  return { isPresent, sinceMs, isLost };
}

import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import type { KubeletSignal } from '#shared/domain/pressure/signal.ts';
import type { InflightEviction } from './inflight-eviction.ts';

/**
 * Stops the agent's own evictions when they do not help (F-33). A closed eviction waits for a measurement that is
 * younger than its end; then what came free is held against what was expected.
 */
export interface CircuitBreaker {
  readonly ineffective: number;
  readonly stoppedUntil: Instant | undefined;
  readonly awaiting: readonly ClosedEviction[];
}

interface ClosedEviction {
  readonly flight: InflightEviction;
  readonly closedAt: Instant;
}

export const CALM: CircuitBreaker = { ineffective: 0, stoppedUntil: undefined, awaiting: [] };

/** The kernel needs a moment to give the pages of a dead process back. */
const SETTLE_MS = 2000;
const LONGEST_WAIT_MS = 60_000;
const LEAST_RELIEF = 0.1;
const MOST_INEFFECTIVE = 2;
const STOP_MS = 600_000;

/** Flights to judge later: real evictions of a signal with an amount. */
export function awaitRelief(guard: CircuitBreaker, closed: readonly InflightEviction[], now: Instant): CircuitBreaker {
  const judged = closed.filter(({ mode, shortage }) => mode === 'Enforce' && shortage !== undefined);
  if (judged.length === 0) return guard;
  return { ...guard, awaiting: [...guard.awaiting, ...judged.map((flight) => ({ flight, closedAt: now }))] };
}

/** What a signal has left, and when that was measured. */
export interface Measured {
  readonly available: number;
  readonly at: Instant;
}

type MeasuredOf = (signal: KubeletSignal) => Measured | undefined;

/** Whether it brought at least a tenth of what it should; `undefined` while no measurement is young enough to tell. */
function didHelp({ flight, closedAt }: ClosedEviction, measuredOf: MeasuredOf): boolean | undefined {
  const measured = flight.shortage && measuredOf(flight.shortage.signal);
  if (flight.shortage === undefined || measured === undefined || measured.at - closedAt < SETTLE_MS) return undefined;
  return measured.available - flight.shortage.available >= flight.expected * LEAST_RELIEF;
}

/** Judges every flight that is ripe; `measuredOf` gives `undefined` where a signal is not known now. */
export function judgeRelief(guard: CircuitBreaker, measuredOf: MeasuredOf, now: Instant): CircuitBreaker {
  let ineffective = guard.ineffective;
  const awaiting: ClosedEviction[] = [];
  for (const each of guard.awaiting) {
    const helped = didHelp(each, measuredOf);
    if (helped !== undefined) ineffective = helped ? 0 : ineffective + 1;
    // Without a measurement for that long nobody can tell any more, and nobody may wait for ever.
    else if (now - each.closedAt < LONGEST_WAIT_MS) awaiting.push(each);
  }
  return trip({ ...guard, ineffective, awaiting }, now);
}

function trip(guard: CircuitBreaker, now: Instant): CircuitBreaker {
  const isOver = guard.stoppedUntil !== undefined && now >= guard.stoppedUntil;
  const stoppedUntil = isOver ? undefined : guard.stoppedUntil;
  if (guard.ineffective < MOST_INEFFECTIVE) return { ...guard, stoppedUntil };
  return { ...guard, ineffective: 0, stoppedUntil: now + STOP_MS };
}

/** Why the guard holds every eviction back now. */
export function breakerGate({ stoppedUntil, awaiting }: CircuitBreaker, now: Instant): Because | undefined {
  if (stoppedUntil !== undefined && now < stoppedUntil) {
    const seconds = Math.ceil((stoppedUntil - now) / 1000);
    const text = `the last ${MOST_INEFFECTIVE} evictions brought no relief; no more for ${seconds} s`;
    return { code: 'Ineffective', text, facts: { evictions: MOST_INEFFECTIVE, seconds } };
  }
  if (awaiting.length === 0) return undefined;
  return {
    code: 'AwaitingRelief',
    text: 'waiting to see what the last eviction brought',
    facts: { count: awaiting.length },
  };
}

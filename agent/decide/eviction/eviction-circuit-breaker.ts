import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/model/pod.ts';
import { type KubeletSignal, resourceOf, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { InflightEviction } from './inflight-eviction.ts';

/**
 * Stops the agent's own evictions for one resource when they do not help (F-33). An eviction whose pod has given back
 * what it used waits for a measurement that is younger; then what came free is held against what was expected. What
 * other pods took meanwhile is no fault of the victim's, and a shortage that grows is no reason to stop.
 */
export interface CircuitBreaker {
  readonly ineffective: number;
  readonly stoppedUntil: Instant | undefined;
  readonly awaiting: readonly ReleasedEviction[];
}

/** By resource; one that never saw an eviction is not in it. */
export type CircuitBreakers = ReadonlyMap<StarvedResource, CircuitBreaker>;

interface ReleasedEviction {
  readonly eviction: InflightEviction;
  readonly releasedAt: Instant;
}

const CLOSED: CircuitBreaker = { ineffective: 0, stoppedUntil: undefined, awaiting: [] };

export const NO_BREAKERS: CircuitBreakers = new Map();

/** The kernel needs a moment to give the pages of a dead process back. */
const SETTLE_MS = 2000;
/** The same where waiting that long would cost the node. */
const SHORT_SETTLE_MS = 200;
const LONGEST_WAIT_MS = 60_000;
const LEAST_RELIEF = 0.1;
const MOST_INEFFECTIVE = 2;
const STOP_MS = 600_000;

/** Takes in evictions whose pods have given back what they used: real ones of a signal with an amount. */
export function awaitRelief(
  breakers: CircuitBreakers,
  released: readonly InflightEviction[],
  now: Instant,
): CircuitBreakers {
  const judged = released.filter(({ mode, shortage }) => mode === 'Enforce' && shortage !== undefined);
  if (judged.length === 0) return breakers;
  const next = new Map(breakers);
  for (const eviction of judged) {
    const resource = resourceOf(eviction.signal);
    const breaker = next.get(resource) ?? CLOSED;
    next.set(resource, { ...breaker, awaiting: [...breaker.awaiting, { eviction, releasedAt: now }] });
  }
  return next;
}

/** What a signal has left, and when that was measured. */
export interface Measured {
  readonly available: number;
  readonly at: Instant;
}

/** What relief is judged by. */
export interface ReliefEvidence {
  /** `undefined` where a signal is not known now. */
  readonly measuredOf: (signal: KubeletSignal) => Measured | undefined;
  /** What all other pods than the victim use together now, in the signal's unit. */
  readonly othersUse: (eviction: InflightEviction) => number;
  /** Whether what is left will be gone before a usual wait is over. */
  readonly isExhaustionImminent: boolean;
}

type Relief = 'helped' | 'ineffective' | 'growing';

/** Whether it brought at least a tenth of what it should; `undefined` while no measurement is young enough to tell. */
function reliefOf({ eviction, releasedAt }: ReleasedEviction, evidence: ReliefEvidence): Relief | undefined {
  const { shortage, expected, othersUsed } = eviction;
  const measured = shortage && evidence.measuredOf(shortage.signal);
  if (shortage === undefined || measured === undefined) return undefined;
  if (measured.at - releasedAt < (evidence.isExhaustionImminent ? SHORT_SETTLE_MS : SETTLE_MS)) return undefined;
  const gained = measured.available - shortage.available;
  const takenByOthers = Math.max(0, evidence.othersUse(eviction) - othersUsed);
  if (gained + takenByOthers >= expected * LEAST_RELIEF) return 'helped';
  return gained < 0 ? 'growing' : 'ineffective';
}

/** Judges every eviction that is ripe. */
export function assessRelief(breakers: CircuitBreakers, evidence: ReliefEvidence, now: Instant): CircuitBreakers {
  if (breakers.size === 0) return breakers;
  return new Map([...breakers].map(([resource, breaker]) => [resource, assessOne(breaker, evidence, now)]));
}

function assessOne(breaker: CircuitBreaker, evidence: ReliefEvidence, now: Instant): CircuitBreaker {
  let ineffective = breaker.ineffective;
  const awaiting: ReleasedEviction[] = [];
  for (const each of breaker.awaiting) {
    const relief = reliefOf(each, evidence);
    if (relief === 'helped') ineffective = 0;
    if (relief === 'ineffective') ineffective += 1;
    // Without a measurement for that long nothing can be told any more, and no eviction may wait for ever.
    if (relief === undefined && now - each.releasedAt < LONGEST_WAIT_MS) awaiting.push(each);
  }
  return trip({ ...breaker, ineffective, awaiting }, now);
}

function trip(breaker: CircuitBreaker, now: Instant): CircuitBreaker {
  const isOver = breaker.stoppedUntil !== undefined && now >= breaker.stoppedUntil;
  const stoppedUntil = isOver ? undefined : breaker.stoppedUntil;
  if (breaker.ineffective < MOST_INEFFECTIVE) return { ...breaker, stoppedUntil };
  return { ...breaker, ineffective: 0, stoppedUntil: now + STOP_MS };
}

/** Why the breaker of a resource holds every eviction back now. */
export function breakerGate(breakers: CircuitBreakers, resource: StarvedResource, now: Instant): Because | undefined {
  const { stoppedUntil, awaiting } = breakers.get(resource) ?? CLOSED;
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

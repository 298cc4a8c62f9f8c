import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type ThresholdSignal, resourceOf, type StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { InflightEviction } from './inflight-eviction.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';

/**
 * Stops the agent's evictions for one resource if they bring no relief. Once a pod has released its resources, the next
 * measurement shows how much was freed, which is compared with the expected amount. The growth of other pods meanwhile
 * is added, because a growing shortage must not stop evictions.
 */
export interface CircuitBreaker {
  readonly ineffective: number;
  readonly stoppedUntil: Instant | undefined;
  readonly awaiting: readonly ReleasedEviction[];
}

/** By resource; contains only resources with evictions. */
export type CircuitBreakers = ReadonlyMap<StarvedResource, CircuitBreaker>;

interface ReleasedEviction {
  readonly eviction: InflightEviction;
  readonly releasedAt: Instant;
}

const CLOSED: CircuitBreaker = { ineffective: 0, stoppedUntil: undefined, awaiting: [] };

export const NO_BREAKERS: CircuitBreakers = new Map();

/** The kernel needs a moment to free the pages of a terminated process. */
const SETTLE_MS = 2000;
/** The same if the node has no time for that. */
const SHORT_SETTLE_MS = 200;
const MAX_WAIT_MS = 60_000;
const LEAST_RELIEF = 0.1;
const MAX_INEFFECTIVE = 2;
const STOP_MS = 600_000;

/** Adds evictions whose pods have released what they used, if they were enforced for a signal with an amount. */
export function awaitRelief(
  breakers: CircuitBreakers,
  released: readonly InflightEviction[],
  now: Instant,
): CircuitBreakers {
  const assessed = released.filter(({ mode, shortage }) => mode === 'Enforce' && shortage !== undefined);
  if (assessed.length === 0) return breakers;
  const next = new Map(breakers);
  for (const eviction of assessed) {
    const resource = resourceOf(eviction.signal);
    const breaker = next.get(resource) ?? CLOSED;
    next.set(resource, { ...breaker, awaiting: [...breaker.awaiting, { eviction, releasedAt: now }] });
  }
  return next;
}

/** The available amount of a signal, and when it was measured. */
export interface Measured {
  readonly available: number;
  readonly at: Instant;
}

/** Inputs for assessing relief. */
export interface ReliefEvidence {
  /** `undefined` if the signal is unknown now. */
  readonly measuredOf: (signal: ThresholdSignal) => Measured | undefined;
  /** Total usage of all pods except the victim now, in the signal's unit. */
  readonly othersUse: (eviction: InflightEviction) => number;
  /** Whether the resource will be exhausted before the usual wait is over. */
  readonly isExhaustionImminent: boolean;
}

type Relief = 'helped' | 'ineffective' | 'growing';

/**
 * Whether the eviction brought at least a tenth of what was expected; `undefined` while no measurement is recent
 * enough.
 */
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

/** Assesses every eviction with a recent enough measurement. */
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
    // Without a measurement for that long the relief stays unknown, and no eviction may wait forever.
    if (relief === undefined && now - each.releasedAt < MAX_WAIT_MS) awaiting.push(each);
  }
  return trip({ ...breaker, ineffective, awaiting }, now);
}

function trip(breaker: CircuitBreaker, now: Instant): CircuitBreaker {
  const isOver = breaker.stoppedUntil !== undefined && now >= breaker.stoppedUntil;
  const stoppedUntil = isOver ? undefined : breaker.stoppedUntil;
  if (breaker.ineffective < MAX_INEFFECTIVE) return { ...breaker, stoppedUntil };
  return { ...breaker, ineffective: 0, stoppedUntil: now + STOP_MS };
}

/** Why the circuit breaker of a resource holds back every eviction now. */
export function breakerGate(breakers: CircuitBreakers, resource: StarvedResource, now: Instant): Because | undefined {
  const { stoppedUntil, awaiting } = breakers.get(resource) ?? CLOSED;
  if (stoppedUntil !== undefined && now < stoppedUntil) {
    const facts = { evictions: MAX_INEFFECTIVE, seconds: Math.ceil((stoppedUntil - now) / 1000) };
    return REASONS.ineffective(facts, facts);
  }
  return awaiting.length === 0 ? undefined : REASONS.awaitingRelief({}, { count: awaiting.length });
}

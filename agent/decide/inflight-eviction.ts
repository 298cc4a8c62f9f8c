import type { Instant, Pod } from '#shared/domain/model/pod.ts';
import type { KubeletSignal, Signal } from '#shared/domain/pressure/signal.ts';
import type { Mode } from '#agent/mode.ts';

export type Stage = 'mild' | 'severe';

/** An amount that was short: where relief will be seen, and what was left of it. */
export interface Shortfall {
  readonly signal: KubeletSignal;
  readonly available: number;
}

/**
 * One eviction on its way.
 *
 *     asking ── accepted ──▶ ending ── pod gone ──▶ (closed)
 *       │                      └── too long ──▶ stuck ── pod gone ──▶ (closed)
 *       ├── no clear answer ──▶ unknown ── read again ──▶ ending or (closed)
 *       └── refused ──▶ (closed, the pod is left alone for a while)
 *     pretended: a dry run; the pod stays and counts as freed until the flight is over
 */
export interface InflightEviction {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
  /** As `namespace/Kind/name`, to spare its other pods for a while. */
  readonly owner: string | undefined;
  readonly signal: Signal;
  readonly stage: Stage;
  readonly mode: Mode;
  readonly phase: 'asking' | 'unknown' | 'ending' | 'stuck' | 'pretended';
  readonly requestedAt: Instant;
  readonly graceSeconds: number;
  /** What should come free, in the signal's unit. */
  readonly expected: number;
  /** What was short when it was requested; `undefined` where that has no amount. */
  readonly shortage: Shortfall | undefined;
  /** Somebody else asked for it, or this process before it was started again. */
  readonly wasAdopted: boolean;
}

/** Beyond its grace a pod needs a moment for its volumes and its last words. */
const CLEAN_UP_MS = 10_000;
/** However long its grace, nobody is waited for longer than this (F-32). */
const LONGEST_WAIT_MS = 600_000;
/** A dry run says the same of the same pod at most this often. */
const PRETENCE_MS = 300_000;

function patienceMs({ phase, graceSeconds }: InflightEviction): number {
  return phase === 'pretended' ? PRETENCE_MS : Math.min(graceSeconds * 1000 + CLEAN_UP_MS, LONGEST_WAIT_MS);
}

function isOver(flight: InflightEviction, now: Instant): boolean {
  return now - flight.requestedAt > patienceMs(flight);
}

/** Whether it takes one of the places that the policy gives to evictions at one moment. */
export function isOutstanding(flight: InflightEviction, now: Instant): boolean {
  switch (flight.phase) {
    case 'asking':
    case 'unknown':
    case 'ending':
      return true;
    case 'stuck':
      return false;
    case 'pretended':
      return now - flight.requestedAt <= Math.min(flight.graceSeconds * 1000 + CLEAN_UP_MS, LONGEST_WAIT_MS);
  }
}

/** Whether it has been asked for and nobody knows yet what came of it. */
export function isUnanswered({ phase }: InflightEviction): boolean {
  return phase === 'asking' || phase === 'unknown';
}

/** Whether what it uses counts as free already (law 4); what is stuck frees nothing. */
export function countsAsFreed({ phase }: InflightEviction): boolean {
  return phase !== 'stuck';
}

export interface Settled {
  readonly flights: readonly InflightEviction[];
  /** Pods that are gone since the last look. */
  readonly closed: readonly InflightEviction[];
}

function isGone(flight: InflightEviction, alive: ReadonlyMap<string, Pod>): boolean {
  // A request without an answer may still arrive: only its outcome closes it.
  return flight.phase !== 'asking' && !alive.has(flight.uid);
}

function age(flight: InflightEviction, now: Instant): readonly InflightEviction[] {
  if (!isOver(flight, now)) return [flight];
  if (flight.phase === 'pretended') return [];
  return flight.phase === 'ending' ? [{ ...flight, phase: 'stuck' }] : [flight];
}

/** Closes flights whose pod is gone and marks those that take too long; `alive` holds the node's pods that have not ended, by UID. */
export function reconcileInflight(
  flights: readonly InflightEviction[],
  alive: ReadonlyMap<string, Pod>,
  now: Instant,
): Settled {
  const closed = flights.filter((flight) => isGone(flight, alive));
  const open = flights.filter((flight) => !isGone(flight, alive)).flatMap((flight) => age(flight, now));
  return { flights: open, closed };
}

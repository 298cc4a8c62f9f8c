import type { Because, ReasonMessage } from '#shared/domain/base/because.ts';
import { HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { SpareSettings } from '#shared/domain/spare/spare-settings.ts';
import { percentileOf } from './histogram.ts';
import { LENDING } from './messages.ts';
import { type HistoryShape, levelOf, type UsageHistory } from './usage-history.ts';

/** One resource of a node now, in bytes or millicores. */
export interface SpareObservation {
  readonly capacity: number;
  /** What pods may request in all. */
  readonly allocatable: number;
  /** The usage at which pods begin to be evicted. */
  readonly ceiling: number;
  /** By everything but spare pods. */
  readonly used: number;
  /** By everything but spare pods. */
  readonly requested: number;
  readonly spare: { readonly requested: number; readonly used: number };
  /** An amount as text. */
  readonly textOf: (amount: number) => string;
  /** Why nothing is lent, whatever is free. */
  readonly objection?: ((facts: Because['facts']) => Because) | undefined;
}

/** How the usage that is to be expected follows from the history; shares are between 0 and 1. */
export interface LendingRule extends HistoryShape {
  /** Of a hundred horizons, in so many usage stayed below what usually counts as its peak. */
  readonly peakPercentile: number;
  /** Of a hundred rises within the horizon, so many are expected. */
  readonly risePercentile: number;
  /** Of the highest rise ever seen, this share is kept free too. */
  readonly shareOfHighest: number;
  /** Share of the capacity that is kept free below the ceiling. */
  readonly margin: number;
  /** Most that is lent, as a share of what pods can use. */
  readonly max: number;
}

const MEDIAN = 50;
/** A peak may be exceeded five times as often by a rise from where usage stands: levels are seen more often than rises. */
const RISES_PER_PEAK = 5;

export function memoryRule({ percentile, windowMs, margin, max }: SpareSettings): LendingRule {
  return {
    counts: 'Highest',
    horizonMs: 30 * MINUTE_MS,
    halfLifeMs: windowMs,
    peakPercentile: percentile,
    risePercentile: 100 - RISES_PER_PEAK * (100 - percentile),
    shareOfHighest: 1 / 3,
    margin,
    max,
  };
}

/** CPU is compressible, and important pods come first by themselves: the usual rise is enough. */
export function cpuRule({ windowMs, max }: SpareSettings): LendingRule {
  return {
    counts: 'Mean',
    horizonMs: HOUR_MS,
    halfLifeMs: windowMs,
    peakPercentile: 100,
    risePercentile: MEDIAN,
    shareOfHighest: 0,
    margin: 0,
    max,
  };
}

/** Less history lends nothing. */
export const LEAST_HISTORY_MS = HOUR_MS;

export interface Lendable {
  /** What spare pods may request in all. */
  readonly lendable: number;
  readonly because: Because;
}

/**
 * How much of a resource spare pods may request. Room is what is left at the usage that is expected within the horizon.
 * Spare pods take of it what they use; the rest is lent at its face value, and so are pods that started lately
 * (`settling`), because it is not known how much of their requests they will use.
 */
export function lendableOf(
  history: UsageHistory,
  seen: SpareObservation & { readonly settling: number },
  rule: LendingRule,
  now: Instant,
): Lendable {
  const { capacity, allocatable, ceiling, spare, settling, textOf, objection } = seen;
  const peak = expectedPeak(history, seen.used / capacity, rule) * capacity;
  const room = Math.max(0, ceiling - rule.margin * capacity - peak);
  const free = room - spare.used - settling;
  const lendable = Math.floor(Math.max(0, Math.min(spare.requested + free, rule.max * allocatable)));
  // The same facts every time: a merge patch would keep those of an earlier reason.
  const facts = { peak: Math.round(peak), room: Math.floor(room), settling };
  const minutes = Math.floor((now - history.since) / MINUTE_MS);
  if (objection !== undefined) return { lendable: 0, because: objection(facts) };
  if (now - history.since < LEAST_HISTORY_MS) return { lendable: 0, because: LENDING.noHistory({ minutes }, facts) };
  const texts = { peak: textOf(peak), spareUsed: textOf(spare.used), lendable: textOf(lendable) };
  const message: ReasonMessage<typeof texts> = lendable > spare.requested ? LENDING.room : LENDING.noRoom;
  return { lendable, because: message(texts, facts) };
}

/**
 * The usage that is expected within the horizon: from where it stands it may rise as before, but not above what it
 * usually reaches, since a burst seldom comes on top of another. A part of the highest rise is always expected.
 */
export function expectedPeak(history: UsageHistory, used: number, rule: LendingRule): number {
  const { rises, peaks } = history;
  const level = levelOf(history, rule);
  const risen = used + percentileOf(rises, rule.risePercentile);
  const usual = Math.max(percentileOf(peaks, rule.peakPercentile), level + percentileOf(rises, MEDIAN));
  const rare = Math.min(used + rule.shareOfHighest * percentileOf(rises, 100), percentileOf(peaks, 100));
  return Math.max(level, Math.min(risen, usual), rare);
}

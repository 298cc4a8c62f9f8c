import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { EvictionLimits } from '#shared/domain/eviction/eviction-limits.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import { REASONS } from '#agent/messages.ts';

/** One requested eviction, for the sliding windows and for ranking its owner later. */
export interface PastEviction {
  readonly at: Instant;
  readonly uid: string;
  readonly namespace: string;
  /** As `namespace/Kind/name`. */
  readonly owner: string | undefined;
  /** What was short. */
  readonly resource: StarvedResource;
}

const MINUTE_MS = 60_000;
const TEN_MINUTES_MS = 600_000;
const HOUR_MS = 3_600_000;

/** Drops evictions that no window covers any more. */
export function recentEvictions(past: readonly PastEviction[], now: Instant): readonly PastEviction[] {
  return past.filter(({ at }) => now - at < HOUR_MS);
}

/** Evictions for one resource: those for another do not count in its windows. */
export function evictionsOf(past: readonly PastEviction[], resource: StarvedResource): readonly PastEviction[] {
  return past.filter((each) => each.resource === resource);
}

function countWithin(past: readonly PastEviction[], windowMs: number, now: Instant): number {
  return past.filter(({ at }) => now - at < windowMs).length;
}

/** How many more evictions the node's windows allow now; never negative. */
export function freeSlotsOnNode(past: readonly PastEviction[], limits: EvictionLimits, now: Instant): number {
  const minute = limits.perMinute - countWithin(past, MINUTE_MS, now);
  const tenMinutes = limits.perTenMinutes - countWithin(past, TEN_MINUTES_MS, now);
  return Math.max(0, Math.min(minute, tenMinutes));
}

/** How many pods of each namespace were evicted within its window. */
export function lostByNamespace(past: readonly PastEviction[], now: Instant): ReadonlyMap<string, number> {
  const lost = new Map<string, number>();
  for (const { at, namespace } of past)
    if (now - at < TEN_MINUTES_MS) lost.set(namespace, (lost.get(namespace) ?? 0) + 1);
  return lost;
}

/** Why a namespace with `count` evicted or chosen pods may lose no further one; `undefined` if it may. */
export function namespaceLimit(namespace: string, count: number, limits: EvictionLimits): Because | undefined {
  const most = limits.perNamespacePerTenMinutes;
  const facts = { namespace, count, most };
  return count < most ? undefined : REASONS.namespaceLimit(facts, facts);
}

/** When a pod of the same owner was last evicted from this node. */
export function ownerDisruptedAt(past: readonly PastEviction[], owner: string | undefined): Instant | undefined {
  return owner === undefined ? undefined : past.findLast((each) => each.owner === owner)?.at;
}

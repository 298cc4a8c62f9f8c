import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { resourceOf, type Observation } from '#shared/domain/pressure/signal.ts';
import {
  type Mode,
  type AgentPolicy,
  stallKey,
  STALL_SIGNALS,
  STILL_WINDOW_MS,
  type StallRatio,
  type StallRule,
  type StallSignal,
  type ShortageLimit,
  stallMode,
} from '#shared/api/node-pressure-policy/policy.ts';
import { type EvictionsByMode, evictionsFor } from '#shared/decide/eviction/history/eviction-state.ts';
import type { InflightEviction } from '#shared/decide/eviction/history/inflight-eviction.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { quantityMilliNumber, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import {
  type ObservedNode,
  type ReclaimRates,
  isAtCpuLimit,
  isAtMemoryLimit,
  type PodPressure,
  type PodPressureByUid,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';

/** A rule that is met: since when, and with which current numbers. */
export interface MetStall {
  readonly signal: StallSignal;
  readonly since: Instant;
  readonly because: Because;
  /** Whether tasks stall right now, not only in the past that the windows cover. */
  readonly isWaiting: boolean;
}

/** By `stallKey`; contains only rules that are met. */
export type MetStalls = ReadonlyMap<string, MetStall>;

/** By signal, the time from which stalls count: stalls before an eviction say nothing about the time after it. */
export type StallStarts = ReadonlyMap<StallSignal, Instant>;

/** Separate by mode: a dry-run eviction restarts no window of a rule that enforces. */
export type StallStartsByMode = Readonly<Record<Mode, StallStarts>>;

export const NO_STARTS: StallStartsByMode = { Enforce: new Map(), DryRun: new Map() };

/**
 * Moves the start of a signal's windows forward while an evicted pod terminates for the same resource, and to the time
 * of a dry-run eviction. `evictions` are those of the previous pass: a pod that is gone since then has just left.
 */
export function advanceStallStarts(
  previous: StallStartsByMode,
  evictions: EvictionsByMode,
  now: Instant,
): StallStartsByMode {
  const next = (mode: Mode): StallStarts => startsAfter(previous[mode], evictionsFor(mode, evictions).inflight, now);
  return { Enforce: next('Enforce'), DryRun: next('DryRun') };
}

function startsAfter(previous: StallStarts, inflight: readonly InflightEviction[], now: Instant): StallStarts {
  if (inflight.length === 0) return previous;
  return new Map(
    STALL_SIGNALS.flatMap((signal) => {
      const own = inflight.filter((each) => resourceOf(each.signal) === resourceOf(signal));
      const start = Math.max(previous.get(signal) ?? -Infinity, ...own.map((each) => startAfter(each, now)));
      return Number.isFinite(start) ? [[signal, start] as const] : [];
    }),
  );
}

/** A pod that has released its memory or is stuck no longer moves the start. */
function startAfter({ phase, requestedAt, releasedAt }: InflightEviction, now: Instant): Instant {
  if (phase === 'pretended' || phase === 'stuck') return requestedAt;
  return releasedAt ?? now;
}

/** Stalls as one pass observed them. */
export interface SeenStalls {
  readonly ratios: readonly StallRatio[];
  readonly evidence: UsageEvidence;
  readonly starts: StallStartsByMode;
  readonly now: Instant;
}

/** The rules that are met now; a rule without a measurement is not met. */
export function advanceStalls(previous: MetStalls, policy: AgentPolicy, seen: SeenStalls): MetStalls {
  const met = policy.stallRules.flatMap((rule) => {
    const because = whyMet(rule, seen, seen.starts[stallMode(rule, policy)]);
    if (because === undefined) return [];
    const key = stallKey(rule);
    const since = previous.get(key)?.since ?? seen.now;
    return [[key, { signal: rule.signal, since, because, isWaiting: isWaiting(rule, seen) }] as const];
  });
  return new Map(met);
}

/** A rule is met only if tasks stall in both windows and a shortage is proven at the same time. */
function whyMet(rule: StallRule, seen: SeenStalls, starts: StallStarts): Because | undefined {
  const sinceStart = seen.now - (starts.get(rule.signal) ?? -Infinity);
  const [short, long] = [rule.short, rule.long].map((limit) =>
    sinceStart < limit.windowMs ? undefined : ratioOf(rule, limit.windowMs, seen.ratios),
  );
  if (short === undefined || long === undefined || short < rule.short.ratio || long < rule.long.ratio) return undefined;
  const proof = proveShortage(rule.evidence, seen.evidence);
  if (proof === undefined) return undefined;
  const { signal, share, evidence } = rule;
  const seconds = { shortSeconds: rule.short.windowMs / 1000, longSeconds: rule.long.windowMs / 1000 };
  const figures = { short, long, left: Number(proof['availableShare']), ...seconds };
  return REASONS.stallsWithShortage(
    { signal, share, evidence: evidence.signal, ...figures },
    { signal, share, shortRatio: short, longRatio: long, ...proof },
  );
}

function isWaiting(rule: StallRule, { ratios }: SeenStalls): boolean {
  return (ratioOf(rule, STILL_WINDOW_MS, ratios) ?? 0) >= rule.short.ratio;
}

function ratioOf({ signal, share }: StallRule, windowMs: number, ratios: readonly StallRatio[]): number | undefined {
  return ratios.find((each) => each.signal === signal && each.share === share && each.windowMs === windowMs)?.ratio;
}

/** Evidence that stalls are the node's, not one pod's; `memory` is the deciding figure. */
export interface UsageEvidence extends Pick<ObservedNode, 'cpu' | 'reclaim'> {
  readonly memory: Observation | undefined;
  readonly podPressures: PodPressureByUid;
}

/** The numbers that prove a shortage; `undefined` if there is no proof. */
export type Proof = Because['facts'] | undefined;

/** The kernel reclaims hard when it scans as much as is available within this time. */
const TURNOVER_SECONDS = 10;
/** Reading a large file does not count as a shortage: all scanned pages are reclaimed, and none is needed again. */
const LEAST_LOST_SHARE = 0.1;
/** A pod that stalls less than this is not affected: on a busy node some pod always stalls a little. */
const LEAST_WAITING = 0.1;
const MEBIBYTE = 1024 * 1024;

/**
 * Whether the node really is short of the resource its tasks wait for. One pod inside its own limit raises the node's
 * PSI while gigabytes are free, so little must be available, and further evidence must agree: for memory, that the
 * kernel reclaims in vain; for both, that pods stall that no limit of their own holds back. A missing measurement
 * proves nothing.
 */
export function proveShortage(limit: ShortageLimit, evidence: UsageEvidence): Proof {
  return limit.signal === 'memory.available' ? proveMemory(limit, evidence) : proveCpu(limit, evidence);
}

interface AvailableOfCapacity {
  readonly available: number;
  readonly capacity: number;
}

function isBelow(below: ThresholdValue, { available, capacity }: AvailableOfCapacity): boolean {
  return available < neededOf(below, capacity);
}

/** What is to be available of a capacity, in its unit. */
export function neededOf(below: ThresholdValue, capacity: number): number {
  return below.kind === 'share' ? capacity * below.share : quantityMilliNumber(below.amount) / 1000;
}

function shareOf({ available, capacity }: AvailableOfCapacity): number {
  return Math.round((available / capacity) * 1000) / 1000;
}

function proveMemory({ below }: ShortageLimit, { memory, reclaim, podPressures }: UsageEvidence): Proof {
  if (memory === undefined) return undefined;
  const room = { available: quantityNumber(memory.available), capacity: quantityNumber(memory.capacity) };
  const search = searchOf(reclaim);
  if (!isBelow(below, room) || search === undefined || !isInVain(search, room)) return undefined;
  if (isOnlyAtLimits(podPressures, isAtMemoryLimit, 'memory')) return undefined;
  return {
    availableShare: shareOf(room),
    searchedMiBPerSecond: Math.round(search.searched / MEBIBYTE),
    lostMiBPerSecond: Math.round(search.lost / MEBIBYTE),
    podsAtLimit: count(podPressures, isAtMemoryLimit),
  };
}

/** Bytes that the kernel scans per second, and those in vain: not reclaimed, or needed again at once. */
interface Search {
  readonly searched: number;
  readonly lost: number;
}

function searchOf({ scanned, stolen, refaulted, swappedIn }: ReclaimRates): Search | undefined {
  if (scanned === undefined || stolen === undefined) return undefined;
  return { searched: scanned, lost: Math.max(0, scanned - stolen) + (refaulted ?? 0) + (swappedIn ?? 0) };
}

function isInVain({ searched, lost }: Search, { available }: AvailableOfCapacity): boolean {
  const isHard = searched > 0 && searched * TURNOVER_SECONDS >= available;
  return isHard && lost >= searched * LEAST_LOST_SHARE;
}

function proveCpu({ below }: ShortageLimit, { cpu, podPressures }: UsageEvidence): Proof {
  if (cpu === undefined) return undefined;
  const room = { available: cpu.availableCores, capacity: cpu.cores };
  if (!isBelow(below, room) || isOnlyAtLimits(podPressures, isAtCpuLimit, 'cpu')) return undefined;
  return { availableShare: shareOf(room), throttledPods: count(podPressures, isAtCpuLimit) };
}

/** Tasks slowed down by their own limit stall like any others. If no other pod stalls, they explain all stalls. */
function isOnlyAtLimits(podPressures: PodPressureByUid, isAtLimit: Test, resource: 'memory' | 'cpu'): boolean {
  return some(podPressures, isAtLimit) && !some(podPressures, (each) => isWaitingFor(resource, each));
}

/** Whether the pod waits for the resource, and not for its own limit. */
export function isWaitingFor(resource: 'memory' | 'cpu', podPressure: PodPressure): boolean {
  const isAtLimit = resource === 'cpu' ? isAtCpuLimit : isAtMemoryLimit;
  return !isAtLimit(podPressure) && (podPressure.waiting[resource] ?? 0) >= LEAST_WAITING;
}

type Test = (podPressure: PodPressure) => boolean;

function some(podPressures: PodPressureByUid, test: Test): boolean {
  for (const podPressure of podPressures.values()) if (test(podPressure)) return true;
  return false;
}

function count(podPressures: PodPressureByUid, test: Test): number {
  return [...podPressures.values()].filter(test).length;
}

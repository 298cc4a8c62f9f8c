import type { Because } from '#shared/domain/model/because.ts';
import { quantityMilliNumber, quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import type { ShortageLimit } from '#shared/api/node-pressure-policy/stall-rule.ts';
import type { NodeView, ReclaimRates } from '#agent/decide/snapshot/node-view.ts';
import {
  isAtCpuLimit,
  isAtMemoryLimit,
  type PodPressure,
  type PodPressureByUid,
} from '#agent/decide/snapshot/pod-pressure.ts';

/** Evidence that stalls are the node's, not one pod's; `memory` is the deciding figure. */
export interface UsageEvidence extends Pick<NodeView, 'cpu' | 'reclaim'> {
  readonly memory: Observation | undefined;
  readonly podPressures: PodPressureByUid;
}

/** The numbers that prove a shortage; `undefined` if it is not proven. */
export type Proof = Because['facts'] | undefined;

/** The kernel reclaims hard when it scans as much as is available within this time. */
const TURNOVER_SECONDS = 10;
/** Reading a large file is no shortage: all scanned pages are reclaimed, and none is needed again. */
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

interface Room {
  readonly available: number;
  readonly capacity: number;
}

function isBelow(below: ThresholdValue, { available, capacity }: Room): boolean {
  const needed = below.kind === 'share' ? capacity * below.share : quantityMilliNumber(below.amount) / 1000;
  return available < needed;
}

function shareOf({ available, capacity }: Room): number {
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

function isInVain({ searched, lost }: Search, { available }: Room): boolean {
  const isHard = searched > 0 && searched * TURNOVER_SECONDS >= available;
  return isHard && lost >= searched * LEAST_LOST_SHARE;
}

function proveCpu({ below }: ShortageLimit, { cpu, podPressures }: UsageEvidence): Proof {
  if (cpu === undefined) return undefined;
  const room = { available: cpu.availableCores, capacity: cpu.cores };
  if (!isBelow(below, room) || isOnlyAtLimits(podPressures, isAtCpuLimit, 'cpu')) return undefined;
  return { availableShare: shareOf(room), throttledPods: count(podPressures, isAtCpuLimit) };
}

/** Tasks held back by their own limit stall like any others; they explain everything if no other pod stalls. */
function isOnlyAtLimits(podPressures: PodPressureByUid, isAtLimit: Test, resource: 'memory' | 'cpu'): boolean {
  const waits: Test = (podPressure) => !isAtLimit(podPressure) && (podPressure.waiting[resource] ?? 0) >= LEAST_WAITING;
  return some(podPressures, isAtLimit) && !some(podPressures, waits);
}

type Test = (podPressure: PodPressure) => boolean;

function some(podPressures: PodPressureByUid, test: Test): boolean {
  for (const podPressure of podPressures.values()) if (test(podPressure)) return true;
  return false;
}

function count(podPressures: PodPressureByUid, test: Test): number {
  return [...podPressures.values()].filter(test).length;
}

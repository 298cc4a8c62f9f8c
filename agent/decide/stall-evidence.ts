import type { Because } from '#shared/domain/model/because.ts';
import { quantityMilliNumber, quantityNumber } from '#shared/domain/model/quantity.ts';
import type { Observation } from '#shared/domain/pressure/observation.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import type { ShortageLimit } from '#agent/policy/stall-rule.ts';
import type { NodeView, ReclaimRates } from './node-view.ts';
import { isAtCpuLimit, isAtMemoryLimit, type PodStrain, type StrainByUid } from './pod-strain.ts';

/** What waiting must coincide with before it counts as the node's; `memory` is the observation of `memory.available`. */
export interface UsageEvidence extends Pick<NodeView, 'cpu' | 'reclaim'> {
  readonly memory: Observation | undefined;
  readonly strains: StrainByUid;
}

/** The numbers that prove a shortage; `undefined` while it is not proven. */
export type Proof = Because['facts'] | undefined;

/**
 * Whether the node really is short where its tasks wait. One pod inside its own limit raises the node's PSI while
 * gigabytes are free (real-kubernetes.md 8.3), so little must be left, and what is counted beside it must fit: for
 * memory that the kernel looks for pages, for CPU that somebody waits whom no limit of its own holds back.
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

function proveMemory({ below }: ShortageLimit, { memory, reclaim, strains }: UsageEvidence): Proof {
  if (memory === undefined) return undefined;
  const room = { available: quantityNumber(memory.available), capacity: quantityNumber(memory.capacity) };
  if (!isBelow(below, room) || !isReclaiming(reclaim, strains)) return undefined;
  return { availableShare: shareOf(room), ...reclaimFacts(reclaim) };
}

/** Where nothing of it is counted, what is left must do; refaults prove little while a pod makes them at its own limit. */
function isReclaiming({ scanned, refaulted, swappedIn }: ReclaimRates, strains: StrainByUid): boolean {
  if (scanned === undefined && refaulted === undefined && swappedIn === undefined) return true;
  if ((scanned ?? 0) > 0 || (swappedIn ?? 0) > 0) return true;
  return (refaulted ?? 0) > 0 && !some(strains, isAtMemoryLimit);
}

function reclaimFacts({ scanned, refaulted, swappedIn }: ReclaimRates): Because['facts'] {
  const rates = { scannedPerSecond: scanned, refaultedPerSecond: refaulted, swappedInPerSecond: swappedIn };
  return Object.fromEntries(
    Object.entries(rates).flatMap(([name, rate]) => (rate === undefined ? [] : [[name, Math.round(rate)]])),
  );
}

function proveCpu({ below }: ShortageLimit, { cpu, strains }: UsageEvidence): Proof {
  if (cpu === undefined) return undefined;
  const room = { available: cpu.availableCores, capacity: cpu.cores };
  if (!isBelow(below, room) || isOnlyThrottled(strains)) return undefined;
  return { availableShare: shareOf(room), throttledPods: count(strains, isAtCpuLimit) };
}

/** Tasks held back by their own limit wait like any others; they are the whole story when nobody else waits. */
function isOnlyThrottled(strains: StrainByUid): boolean {
  if (!some(strains, isAtCpuLimit)) return false;
  return !some(strains, (strain) => !isAtCpuLimit(strain) && (strain.waiting.cpu ?? 0) > 0);
}

function some(strains: StrainByUid, test: (strain: PodStrain) => boolean): boolean {
  return [...strains.values()].some(test);
}

function count(strains: StrainByUid, test: (strain: PodStrain) => boolean): number {
  return [...strains.values()].filter(test).length;
}

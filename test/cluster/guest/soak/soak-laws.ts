/** What must hold of every eviction, judged from the raw figures and from what the agent said; amounts in MiB. */

/** What was left at one moment, as the kernel's files had it. */
export interface Sample {
  /** On the clock of `performance.now()`, as all times here. */
  readonly atMs: number;
  readonly memAvailableMiB: number;
  readonly kubeletMiB: number;
  /** Page cache that must be written to a disk first: the agent does not count it as available. */
  readonly unwrittenMiB: number;
  /** For how long all tasks have waited for memory since the start. */
  readonly stalledMs: number;
}

/** A request that reached the API server. */
export interface AskedEviction {
  readonly atMs: number;
  readonly pod: string;
}

/** A line of the agent's log about an eviction. */
export interface StatedReason {
  readonly atMs: number;
  readonly pod: string;
  readonly code: string;
  readonly signal: string;
  readonly availableMiB: number | undefined;
  readonly kubeletMiB: number | undefined;
  readonly thresholdMiB: number | undefined;
  /** Of the short window of waiting. */
  readonly stalledShare: number | undefined;
}

/** What the evictions of an episode are held against. */
export interface Evidence {
  readonly samples: readonly Sample[];
  readonly stated: readonly StatedReason[];
  readonly totalMiB: number;
  readonly protectedPods: readonly string[];
  /** The only pod that may go; without it any that is not protected. */
  readonly culprit: string | undefined;
}

/** The settings without a policy ask for this much, for the node of a guest as for any. */
export const HARD_MIB = 250;
const STALL_SHARE = 0.1;
const STALL_WINDOW_MS = 10_000;
const STALL_TOLERANCE = 0.1;
/** From the agent's measurement, over two reads of the API server, to the request; the guest is slow. */
const WINDOW_MS = 1500;
/** What a process takes or gives back between two samples. */
const TOLERANCE_MIB = 16;

/** What one request breaks; empty when it breaks nothing. */
export function brokenLaws(asked: AskedEviction, evidence: Evidence): readonly string[] {
  const { samples, protectedPods, culprit } = evidence;
  const seen = samples.filter(({ atMs }) => atMs >= asked.atMs - WINDOW_MS && atMs <= asked.atMs);
  const reason = evidence.stated.find(({ pod, atMs }) => pod === asked.pod && atMs >= asked.atMs);
  const laws: readonly (readonly [isKept: boolean, law: string])[] = [
    [!protectedPods.includes(asked.pod), 'no protected pod goes'],
    [culprit === undefined || asked.pod === culprit, 'no other pod goes than the one that takes the memory'],
    [seen.length > 0, 'the memory was looked at'],
    [isShort(seen, reason, evidence.totalMiB), 'no pod goes while memory can be had'],
    [reason !== undefined && isTrue(reason, seen, evidence), 'the reason tells what was left'],
  ];
  return laws.filter(([isKept]) => !isKept).map(([, law]) => law);
}

/** By the kernel's estimate alone, at some sample of the last moment. */
function isShort(seen: readonly Sample[], reason: StatedReason | undefined, totalMiB: number): boolean {
  const limitMiB = reason?.signal === 'memory.pressure' ? totalMiB * STALL_SHARE : HARD_MIB;
  return Math.min(...seen.map(({ memAvailableMiB }) => memAvailableMiB)) < limitMiB;
}

function isTrue(reason: StatedReason, seen: readonly Sample[], { samples }: Evidence): boolean {
  const available = seen.flatMap(({ memAvailableMiB, unwrittenMiB }) => [
    memAvailableMiB,
    Math.max(0, memAvailableMiB - unwrittenMiB),
  ]);
  if (!isWithin(reason.availableMiB, available)) return false;
  if (reason.code === 'StallsWithShortage') return isStalled(reason, seen, samples);
  const kubelets = seen.map(({ kubeletMiB }) => kubeletMiB);
  const { code, availableMiB = Infinity, thresholdMiB } = reason;
  const isMet = code === 'HardThresholdMet' && thresholdMiB === HARD_MIB && availableMiB < HARD_MIB;
  return isMet && isWithin(reason.kubeletMiB, kubelets);
}

/** Whether the kernel's counter says so, too, over a window that ends at one of these samples. */
function isStalled(
  { stalledShare = Infinity }: StatedReason,
  ends: readonly Sample[],
  samples: readonly Sample[],
): boolean {
  return ends.some((end) => {
    const start = samples.findLast(({ atMs }) => atMs <= end.atMs - STALL_WINDOW_MS);
    if (start === undefined) return false;
    const share = (end.stalledMs - start.stalledMs) / (end.atMs - start.atMs);
    return Math.abs(share - stalledShare) <= STALL_TOLERANCE;
  });
}

function isWithin(figure = Infinity, seen: readonly number[]): boolean {
  return figure >= Math.min(...seen) - TOLERANCE_MIB && figure <= Math.max(...seen) + TOLERANCE_MIB;
}

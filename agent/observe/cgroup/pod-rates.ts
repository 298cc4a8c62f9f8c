import type { PodPressure, ResourceShares } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { valueOf } from '#agent/observe/source/source.ts';
import type { Stalls } from '#agent/observe/source/stall-meter.ts';
import { type CgroupDetails, cpuCgroupSource, ioCgroupSource, pidsCgroupSource } from './cgroup-details.ts';
import type { CgroupLayout } from './cgroup-layout.ts';

/** Rates of a pod between two samples; `undefined` where unknown. */
export interface PodRates {
  readonly processCount: number | undefined;
  readonly cpuNanoCores: number | undefined;
  readonly ioBytesPerSecond: number | undefined;
  readonly podPressure: PodPressure;
}

/** One sample: the counters, and the rates since the sample before. */
export interface PodSample {
  readonly atMs: number;
  readonly counters: Counters;
  readonly rates: PodRates;
}

type StallTimes = Readonly<Record<'memory' | 'cpu' | 'io', Stalls | undefined>>;

interface Counters {
  readonly cpuSeconds: number | undefined;
  readonly throttledSeconds: number | undefined;
  readonly ioBytes: number | undefined;
  readonly limitHits: number | undefined;
  readonly oomKills: number | undefined;
  readonly stalls: StallTimes;
}

const MILLISECONDS_PER_SECOND = 1000;
const MICROSECONDS_PER_MILLISECOND = 1000;
const NANOSECONDS_PER_SECOND = 1e9;

function countersOf(details: Partial<CgroupDetails> | undefined): Counters {
  const cpu = valueOf(details?.cpu);
  const io = valueOf(details?.io);
  const events = valueOf(details?.events);
  return {
    cpuSeconds: cpu?.usageSeconds,
    throttledSeconds: cpu?.throttledSeconds,
    ioBytes: io === undefined ? undefined : io.readBytes + io.writtenBytes,
    limitHits: finite(events?.limitHits),
    oomKills: finite(events?.oomKills),
    stalls: stallTimesOf(details),
  };
}

/** NaN means that this kernel does not have the counter. */
function finite(count: number | undefined): number | undefined {
  return Number.isFinite(count) ? count : undefined;
}

function stallTimesOf(details: Partial<CgroupDetails> | undefined): StallTimes {
  return {
    memory: valueOf(details?.memoryStalls),
    cpu: valueOf(details?.cpuStalls),
    io: valueOf(details?.ioStalls),
  };
}

type PerMs = (before: number | undefined, after: number | undefined) => number | undefined;

/**
 * Growth per millisecond. A counter that went backwards belongs to a new cgroup and has no rate yet; NaN never has one.
 */
function growthOver(elapsedMs: number): PerMs {
  return (before, after) => {
    if (before === undefined || after === undefined || elapsedMs <= 0) return undefined;
    return after >= before ? (after - before) / elapsedMs : undefined;
  };
}

function scaled(rate: number | undefined, by: number): number | undefined {
  return rate === undefined ? undefined : rate * by;
}

function rounded(rate: number | undefined): number | undefined {
  return rate === undefined ? undefined : Math.round(rate);
}

function share(rate: number | undefined): number | undefined {
  return rate === undefined ? undefined : Math.min(1, rate);
}

function stallShares(total: keyof Stalls, before: StallTimes, after: StallTimes, perMs: PerMs): ResourceShares {
  const shareOf = (resource: keyof StallTimes): number | undefined => {
    const grown = perMs(before[resource]?.[total], after[resource]?.[total]);
    return share(scaled(grown, 1 / MICROSECONDS_PER_MILLISECOND));
  };
  return { memory: shareOf('memory'), cpu: shareOf('cpu'), io: shareOf('io') };
}

function podPressureOf(before: Counters, after: Counters, perMs: PerMs): PodPressure {
  return {
    waiting: stallShares('someMicroseconds', before.stalls, after.stalls, perMs),
    stalled: stallShares('fullMicroseconds', before.stalls, after.stalls, perMs),
    limitHits: after.limitHits,
    limitHitsPerSecond: scaled(perMs(before.limitHits, after.limitHits), MILLISECONDS_PER_SECOND),
    oomKills: after.oomKills,
    throttled: share(scaled(perMs(before.throttledSeconds, after.throttledSeconds), MILLISECONDS_PER_SECOND)),
  };
}

/** The sample after `previous`; the first one has no rates. */
export function nextSample(
  previous: PodSample | undefined,
  details: Partial<CgroupDetails> | undefined,
  atMs: number,
): PodSample {
  const counters = countersOf(details);
  const before = previous?.counters ?? counters;
  const perMs = growthOver(atMs - (previous?.atMs ?? atMs));
  const cpu = perMs(before.cpuSeconds, counters.cpuSeconds);
  return {
    atMs,
    counters,
    rates: {
      processCount: valueOf(details?.pids)?.tasks,
      cpuNanoCores: rounded(scaled(cpu, MILLISECONDS_PER_SECOND * NANOSECONDS_PER_SECOND)),
      ioBytesPerSecond: rounded(scaled(perMs(before.ioBytes, counters.ioBytes), MILLISECONDS_PER_SECOND)),
      podPressure: podPressureOf(before, counters, perMs),
    },
  };
}

/** The whole node or all pods together. */
export type GroupName = 'node' | 'pods';

/** Usage of a cgroup; `undefined` where the kernel does not count it. */
export type GroupUsage = Omit<PodRates, 'podPressure'>;

export type GroupUsages = ReadonlyMap<GroupName, GroupUsage>;

export const NO_GROUPS: GroupUsages = new Map();

/** Measures the root cgroup and the cgroup of all pods from one sample to the next. */
export interface GroupMeter {
  readonly measure: (nowMs: number) => void;
  readonly usages: () => GroupUsages;
  readonly close: () => void;
}

/** Creates a meter without samples. */
export function createGroupMeter(layout: CgroupLayout): GroupMeter {
  const groups = [
    ['node', openGroup(layout, '')],
    ['pods', openGroup(layout, layout.kubepods)],
  ] as const;
  const samples = new Map<GroupName, PodSample>();
  return {
    measure: (nowMs) => {
      for (const [name, sources] of groups) samples.set(name, nextSample(samples.get(name), readGroup(sources), nowMs));
    },
    usages: () => new Map(Array.from(samples, ([name, { rates }]) => [name, rates])),
    close: () => {
      for (const [, { cpu, pids, io }] of groups) for (const source of [cpu, pids, io]) source.close();
    },
  };
}

/** Only what metrics show; other parts read the stalls and memory of these cgroups. */
function openGroup(layout: CgroupLayout, path: string) {
  return {
    cpu: cpuCgroupSource(layout, path),
    pids: pidsCgroupSource(layout, path),
    io: ioCgroupSource(layout, path),
  };
}

function readGroup({ cpu, pids, io }: ReturnType<typeof openGroup>) {
  return { cpu: cpu.read(), pids: pids.read(), io: io.read() };
}

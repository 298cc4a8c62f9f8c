import { readFileSync } from 'node:fs';
import type { ProcessReading } from '#shared/domain/pressure/signal.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import {
  type ObservedNode,
  type CpuRoom,
  NO_RECLAIM_RATES,
  type ReclaimRates,
} from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { createStallMeter, stallSource } from '#agent/observe/source/stall-meter.ts';
import {
  valueOf,
  absent,
  failed,
  reading,
  type Reading,
  type Source,
  watchSource,
  type WatchedSource,
} from '#agent/observe/source/source.ts';
import { createCounterWindow, createLatestRate } from '#agent/observe/source/counter-window.ts';
import { defineFields, KernelFile, NumberFile, readFields, scratch } from '#agent/observe/source/kernel-file.ts';
import { nextLine, parseInteger } from '#agent/observe/source/parse-bytes.ts';

/** What the kernel does besides holding memory: processes, stalls, reclaim, CPU, OOM kills. */
export interface ActivityView extends Pick<ObservedNode, 'stalls' | 'cpu' | 'reclaim' | 'oomKills'> {
  readonly processes: ProcessReading | undefined;
}

export interface KernelActivity {
  readonly readNode: (nowMs: number) => ActivityView;
  readonly sources: readonly WatchedSource<unknown>[];
}

const STALLING = ['memory', 'cpu', 'io'] as const;

/** The kernel's activity from /proc alone; no cgroup is needed. */
export function createKernelActivity(proc: string, clock: Clock): KernelActivity {
  const vmstat = watchSource(vmstatSource(proc), clock);
  const tasks = watchSource(processCountSource(proc), clock);
  const cpu = createCpuMeter(proc, clock);
  const stalls = STALLING.map((resource) => openStalls(resource, proc, clock));
  const reclaim = createReclaimMeter();

  function readNode(nowMs: number): ActivityView {
    const counters = valueOf(vmstat.read());
    for (const { source, meter } of stalls) meter.note(source.read(), nowMs);
    return {
      processes: processes(valueOf(tasks.read()), nowMs),
      stalls: stalls.flatMap(({ meter }) => meter.ratios()),
      cpu: cpu.read(nowMs),
      reclaim: reclaim(counters, nowMs),
      oomKills: counters?.oomKills,
    };
  }
  return { readNode, sources: [vmstat, tasks, cpu.source, ...stalls.map(({ source }) => source)] };
}

function openStalls(resource: (typeof STALLING)[number], proc: string, clock: Clock) {
  const source = stallSource(`${resource}-stalls`, `${proc}/pressure`, resource);
  return { source: watchSource(source, clock), meter: createStallMeter(`${resource}.pressure`) };
}

function processes(count: ProcessCount | undefined, at: number): ProcessReading | undefined {
  return count === undefined ? undefined : { at, maximum: count.most, running: count.tasks };
}

const CPU_WINDOW_MS = 60_000;
const CPU_NOW_MS = 2000;

/** The node's idle CPU over the last minute; `undefined` while the window is not full. */
function createCpuMeter(proc: string, clock: Clock) {
  const source = watchSource(nodeCpuSource(proc), clock);
  const busy = createCounterWindow(CPU_WINDOW_MS);
  const busyNow = createLatestRate(CPU_NOW_MS, CPU_WINDOW_MS);

  function read(nowMs: number): CpuRoom | undefined {
    const seen = valueOf(source.read());
    for (const window of [busy, busyNow]) window.add(seen?.busySeconds ?? Number.NaN, nowMs);
    const [rate, rateNow] = [busy.rate(), busyNow.rate()];
    if (rate === undefined || seen === undefined) return undefined;
    const idle = (perMs: number): number => Math.max(0, seen.processors - perMs * 1000);
    return {
      availableCores: idle(rate),
      cores: seen.processors,
      ...(rateNow !== undefined && { idleNow: idle(rateNow) }),
    };
  }
  return { source, read };
}

/** CPU seconds used by the whole node since boot, and its number of processors. */
export interface NodeCpu {
  readonly busySeconds: number;
  readonly processors: number;
}

/** The unit of /proc/stat on every Linux: USER_HZ. */
const TICKS_PER_SECOND = 100;
const SPACE = 32;
const CPU_LINE = [99, 112, 117] as const;
/** user nice system idle iowait irq softirq steal; guest time is already in user. */
const FIELDS = 8;
const IDLE = 3;
const IOWAIT = 4;

function isCpuLine(at: number): boolean {
  return CPU_LINE.every((byte, index) => scratch[at + index] === byte);
}

function skipSpaces(start: number, length: number): number {
  let at = start;
  while (at < length && scratch[at] === SPACE) at += 1;
  return at;
}

/** Sum of all fields except idle and iowait, from the first line. */
function busyTicks(length: number): number {
  let at = skipSpaces(CPU_LINE.length, length);
  let busy = 0;
  for (let field = 0; field < FIELDS; field += 1) {
    const ticks = parseInteger(scratch, at, length);
    if (field !== IDLE && field !== IOWAIT) busy += ticks;
    at = skipSpaces(scratch.indexOf(SPACE, at), length);
  }
  return busy;
}

function countProcessors(length: number): number {
  let lines = 0;
  for (let at = 0; at < length && isCpuLine(at); at = nextLine(scratch, at, length)) lines += 1;
  return lines - 1;
}

/** /proc/stat: the inputs of `cpu.available`. */
export function nodeCpuSource(proc: string): Source<NodeCpu> {
  const file = new KernelFile(proc, 'stat');

  function read(): Reading<NodeCpu> {
    const length = file.read();
    if (length < 0) return absent(file.because);
    const processors = isCpuLine(0) ? countProcessors(length) : 0;
    const busySeconds = processors > 0 ? busyTicks(length) / TICKS_PER_SECOND : Number.NaN;
    if (Number.isNaN(busySeconds)) return failed(`cannot use ${proc}/stat: expected cpu lines with eight numbers`);
    return reading({ busySeconds, processors });
  }
  return { name: 'node-cpu', read, close: () => file.close() };
}

/** Existing tasks and their maximum: the inputs of the kubelet's `pid.available`. */
export interface ProcessCount {
  readonly tasks: number;
  readonly most: number;
}

const SLASH = 47;

/** The number after the slash in the fourth field of /proc/loadavg: `0.83 1.36 1.51 1/213 27400`. */
function tasksIn(length: number): number {
  const slash = scratch.subarray(0, length).indexOf(SLASH);
  if (slash < 0) return Number.NaN;
  const end = scratch.subarray(0, length).indexOf(SPACE, slash);
  return parseInteger(scratch, slash + 1, end < 0 ? length : end);
}

/** pid.available as the kubelet computes it: min(pid_max, threads-max) − tasks. */
export function processCountSource(proc: string): Source<ProcessCount> {
  const loadavg = new KernelFile(proc, 'loadavg');
  const pidMax = new NumberFile(`${proc}/sys/kernel`, 'pid_max');
  const threadsMax = new NumberFile(`${proc}/sys/kernel`, 'threads-max');

  function read(): Reading<ProcessCount> {
    const length = loadavg.read();
    if (length < 0) return absent(loadavg.because);
    const tasks = tasksIn(length);
    const most = Math.min(pidMax.readNumber() ?? Number.NaN, threadsMax.readNumber() ?? Number.NaN);
    if (!(tasks > 0)) return failed(`cannot use ${proc}/loadavg: expected running/tasks in the fourth field`);
    if (!(most > 0)) return failed(`cannot use ${proc}/sys/kernel: expected numbers in pid_max and threads-max`);
    return reading({ tasks, most });
  }

  function close(): void {
    for (const file of [loadavg, pidMax, threadsMax]) file.close();
  }
  return { name: 'process-count', read, close };
}

/** Counters since boot. Growing refaults and scans are evidence of a real memory shortage. */
export interface VirtualMemoryCounters {
  readonly oomKills: number;
  /** Pages read in again soon after they were evicted, in any cgroup. */
  readonly refaults: number;
  /** Pages scanned because the node is short of memory; reclaim of a cgroup at its own limit is not included. */
  readonly scans: number;
  /** Scanned pages that were reclaimed. */
  readonly steals: number;
  readonly swapIns: number;
}

const VMSTAT_KEYS = [
  'oom_kill',
  'workingset_refault_file',
  'workingset_refault_anon',
  // Before 5.9 there was one counter for both.
  'workingset_refault',
  'pgscan_direct',
  'pgscan_kswapd',
  'pgsteal_direct',
  'pgsteal_kswapd',
  'pswpin',
] as const;
const VMSTAT = defineFields(...VMSTAT_KEYS);

function counter(index: number): number {
  return VMSTAT.values[index] ?? Number.NaN;
}

/** NaN only if this kernel has none of them. */
function sumOfKnown(...counters: readonly number[]): number {
  const known = counters.filter((each) => !Number.isNaN(each));
  return known.length === 0 ? Number.NaN : known.reduce((sum, each) => sum + each, 0);
}

/** /proc/vmstat; a counter that this kernel does not have is NaN. */
export function vmstatSource(proc: string): Source<VirtualMemoryCounters> {
  const file = new KernelFile(proc, 'vmstat');

  function read(): Reading<VirtualMemoryCounters> {
    const missing = readFields(file, VMSTAT);
    if (missing !== undefined) return missing;
    if (VMSTAT.values.every(Number.isNaN))
      return failed(`cannot use ${proc}/vmstat: none of ${VMSTAT_KEYS.join(', ')} is there`);
    return reading({
      oomKills: counter(0),
      refaults: sumOfKnown(counter(1), counter(2), counter(3)),
      scans: sumOfKnown(counter(4), counter(5)),
      steals: sumOfKnown(counter(6), counter(7)),
      swapIns: counter(8),
    });
  }
  return { name: 'vmstat', read, close: () => file.close() };
}

/** Key of the page size in the auxiliary vector (`AT_PAGESZ`). */
const PAGE_SIZE_KEY = 6n;
const WORD_BYTES = 8;
const USUAL = 4096;

/** Size of a page in bytes, the unit of the kernel's reclaim counters: 4 KiB, on some arm64 kernels 64 KiB. */
export function pageSize(): number {
  const words = auxiliaryVector();
  for (let at = 0; at + 1 < words.length; at += 2) if (words[at] === PAGE_SIZE_KEY) return Number(words[at + 1]);
  return USUAL;
}

function auxiliaryVector(): BigUint64Array {
  try {
    const bytes = new Uint8Array(readFileSync('/proc/self/auxv'));
    return new BigUint64Array(bytes.buffer, 0, Math.floor(bytes.length / WORD_BYTES));
  } catch {
    return new BigUint64Array();
  }
}

const RECLAIM_WINDOW_MS = 10_000;
const MILLISECONDS_PER_SECOND = 1000;
const PAGE_BYTES = pageSize();

/** The kernel's reclaim activity as rates over ten seconds; unknown until the window is full. */
function createReclaimMeter() {
  const [scanned, stolen, refaulted, swappedIn] = [pageRate(), pageRate(), pageRate(), pageRate()];
  return (counters: VirtualMemoryCounters | undefined, atMs: number): ReclaimRates => {
    if (counters === undefined) return NO_RECLAIM_RATES;
    return {
      scanned: scanned(counters.scans, atMs),
      stolen: stolen(counters.steals, atMs),
      refaulted: refaulted(counters.refaults, atMs),
      swappedIn: swappedIn(counters.swapIns, atMs),
    };
  };
}

/** Takes a counter of pages; returns how it grew, in bytes per second. */
function pageRate(): (pages: number, atMs: number) => number | undefined {
  const window = createCounterWindow(RECLAIM_WINDOW_MS);
  return (pages, atMs) => {
    window.add(pages, atMs);
    const rate = window.rate();
    return rate === undefined ? undefined : rate * MILLISECONDS_PER_SECOND * PAGE_BYTES;
  };
}

import type { NodeMemory } from '#shared/domain/pressure/memory-figure.ts';
import { defineFields, readFields, KernelFile } from '#agent/observe/source/kernel-file.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/source.ts';
import { readFileSync } from 'node:fs';
import { NO_RECLAIM_RATES, type ReclaimRates } from '#agent/decide/snapshot/node-snapshot.ts';
import { createCounterWindow, type CounterWindow } from '#agent/observe/source/counter-window.ts';

const MEMINFO_KEYS = ['MemTotal', 'MemAvailable', 'Active(file)', 'Inactive(file)', 'Dirty', 'Writeback'] as const;
const MEMINFO = defineFields(...MEMINFO_KEYS);
const KIBIBYTE = 1024;

function bytes(key: (typeof MEMINFO_KEYS)[number]): number {
  return (MEMINFO.values[MEMINFO_KEYS.indexOf(key)] ?? Number.NaN) * KIBIBYTE;
}

/** A missing line counts as 0. */
function orNothing(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

/** /proc/meminfo: total and available memory, and page cache. */
export function meminfoSource(proc: string): Source<NodeMemory> {
  const file = new KernelFile(proc, 'meminfo');

  function read(): Reading<NodeMemory> {
    const missing = readFields(file, MEMINFO);
    if (missing !== undefined) return missing;
    const totalBytes = bytes('MemTotal');
    const availableBytes = bytes('MemAvailable');
    if (!(totalBytes > 0))
      return failed(`cannot use ${proc}/meminfo: MemTotal is ${totalBytes / KIBIBYTE}, expected kB above 0`);
    if (Number.isNaN(availableBytes)) return failed(`cannot use ${proc}/meminfo: no MemAvailable`);
    return reading({
      totalBytes,
      availableBytes,
      fileBytes: orNothing(bytes('Active(file)') + bytes('Inactive(file)')),
      unwrittenBytes: orNothing(bytes('Dirty') + bytes('Writeback')),
    });
  }
  return { name: 'meminfo', read, close: () => file.close() };
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

const WINDOW_MS = 10_000;
const MILLISECONDS_PER_SECOND = 1000;
const PAGE_BYTES = pageSize();

/** The kernel's reclaim activity as rates over ten seconds; unknown until the window is full. */
export interface ReclaimMeter {
  readonly note: (answer: Reading<VirtualMemoryCounters>, atMs: number) => void;
  readonly rates: () => ReclaimRates;
}

export function createReclaimMeter(): ReclaimMeter {
  const scans = createCounterWindow(WINDOW_MS);
  const steals = createCounterWindow(WINDOW_MS);
  const refaults = createCounterWindow(WINDOW_MS);
  const swapIns = createCounterWindow(WINDOW_MS);
  let isCounted = false;

  function note(answer: Reading<VirtualMemoryCounters>, atMs: number): void {
    isCounted = answer.kind === 'reading';
    if (answer.kind !== 'reading') return;
    scans.add(answer.value.scans, atMs);
    steals.add(answer.value.steals, atMs);
    refaults.add(answer.value.refaults, atMs);
    swapIns.add(answer.value.swapIns, atMs);
  }

  function rates(): ReclaimRates {
    if (!isCounted) return NO_RECLAIM_RATES;
    return {
      scanned: bytesPerSecond(scans),
      stolen: bytesPerSecond(steals),
      refaulted: bytesPerSecond(refaults),
      swappedIn: bytesPerSecond(swapIns),
    };
  }
  return { note, rates };
}

function bytesPerSecond(pages: Pick<CounterWindow, 'rate'>): number | undefined {
  const rate = pages.rate();
  return rate === undefined ? undefined : rate * MILLISECONDS_PER_SECOND * PAGE_BYTES;
}

import { defineFields, readFields } from '#agent/observe/source/field-file.ts';
import { KernelFile } from '#agent/observe/source/kernel-file.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

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

const KEYS = [
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
const FIELDS = defineFields(...KEYS);

function counter(index: number): number {
  return FIELDS.values[index] ?? Number.NaN;
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
    const missing = readFields(file, FIELDS);
    if (missing !== undefined) return missing;
    if (FIELDS.values.every(Number.isNaN))
      return failed(`cannot use ${proc}/vmstat: none of ${KEYS.join(', ')} is there`);
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

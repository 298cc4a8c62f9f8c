import { defineFields, readFields } from './field-file.ts';
import { KernelFile } from './kernel-file.ts';
import { failed, reading, type Reading, type Source } from './reading.ts';

/** Counters since boot. A growing refault or direct-reclaim counter is evidence that memory is really short. */
export interface VirtualMemoryCounters {
  readonly oomKills: number;
  readonly majorFaults: number;
  readonly fileRefaults: number;
  readonly anonRefaults: number;
  readonly directScans: number;
  readonly swapIns: number;
}

const KEYS = [
  'oom_kill',
  'pgmajfault',
  'workingset_refault_file',
  'workingset_refault_anon',
  'pgscan_direct',
  'pswpin',
] as const;
const FIELDS = defineFields(...KEYS);

function counter(index: number): number {
  return FIELDS.values[index] ?? Number.NaN;
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
      majorFaults: counter(1),
      fileRefaults: counter(2),
      anonRefaults: counter(3),
      directScans: counter(4),
      swapIns: counter(5),
    });
  }
  return { name: 'vmstat', read, close: () => file.close() };
}

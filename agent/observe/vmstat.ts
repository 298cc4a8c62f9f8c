import { createFieldFile } from './field-file.ts';
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

/** /proc/vmstat; a counter that this kernel does not have is NaN. */
export function vmstatSource(proc: string): Source<VirtualMemoryCounters> {
  const file = createFieldFile(`${proc}/vmstat`, KEYS);

  function counter(index: number): number {
    return file.values[index] ?? Number.NaN;
  }

  function read(): Reading<VirtualMemoryCounters> {
    const missing = file.read();
    if (missing !== undefined) return missing;
    if (file.values.every(Number.isNaN))
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
  return { name: 'vmstat', read, close: file.close };
}

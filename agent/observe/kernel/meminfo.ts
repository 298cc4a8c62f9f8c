import type { NodeMemory } from '#shared/domain/pressure/memory-figure.ts';
import { defineFields, readFields, KernelFile } from '#agent/observe/source/kernel-file.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

const KEYS = ['MemTotal', 'MemAvailable', 'Active(file)', 'Inactive(file)', 'Dirty', 'Writeback'] as const;
const FIELDS = defineFields(...KEYS);
const KIBIBYTE = 1024;

function bytes(key: (typeof KEYS)[number]): number {
  return (FIELDS.values[KEYS.indexOf(key)] ?? Number.NaN) * KIBIBYTE;
}

/** A missing line counts as 0. */
function orNothing(value: number): number {
  return Number.isNaN(value) ? 0 : value;
}

/** /proc/meminfo: total and available memory, and page cache. */
export function meminfoSource(proc: string): Source<NodeMemory> {
  const file = new KernelFile(proc, 'meminfo');

  function read(): Reading<NodeMemory> {
    const missing = readFields(file, FIELDS);
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

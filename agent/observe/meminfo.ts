import { defineFields, readFields } from './field-file.ts';
import { KernelFile } from './kernel-file.ts';
import { failed, reading, type Reading, type Source } from './reading.ts';

/** Bytes, as /proc/meminfo says; huge pages are memory that no pod without a hugepages request can have. */
export interface MemoryInfo {
  readonly totalBytes: number;
  readonly freeBytes: number;
  readonly availableBytes: number;
  readonly swapTotalBytes: number;
  readonly swapFreeBytes: number;
  readonly hugepagesBytes: number;
}

const FIELDS = defineFields('MemTotal', 'MemFree', 'MemAvailable', 'SwapTotal', 'SwapFree', 'Hugetlb');
const KIBIBYTE = 1024;

function bytes(index: number): number {
  return (FIELDS.values[index] ?? Number.NaN) * KIBIBYTE;
}

/** /proc/meminfo: the capacity of the memory signal, and the free memory that evidence of a shortage needs. */
export function meminfoSource(proc: string): Source<MemoryInfo> {
  const file = new KernelFile(proc, 'meminfo');

  function read(): Reading<MemoryInfo> {
    const missing = readFields(file, FIELDS);
    if (missing !== undefined) return missing;
    const totalBytes = bytes(0);
    const availableBytes = bytes(2);
    if (!(totalBytes > 0))
      return failed(`cannot use ${proc}/meminfo: MemTotal is ${totalBytes / KIBIBYTE}, expected kB above 0`);
    if (Number.isNaN(availableBytes)) return failed(`cannot use ${proc}/meminfo: no MemAvailable`);
    return reading({
      totalBytes,
      freeBytes: bytes(1),
      availableBytes,
      swapTotalBytes: bytes(3),
      swapFreeBytes: bytes(4),
      hugepagesBytes: bytes(5),
    });
  }
  return { name: 'meminfo', read, close: () => file.close() };
}

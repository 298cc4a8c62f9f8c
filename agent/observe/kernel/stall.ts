import { missingFrom } from '#agent/observe/source/field-file.ts';
import { KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { scanStalls, type StallTotals } from '#agent/observe/source/parse-bytes.ts';
import { failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

/**
 * How long tasks have stalled since boot, or since the cgroup was created, in microseconds. The agent computes its
 * ratios from these counters; the kernel's averages in the same file react later and less sharply.
 */
export interface Stalls {
  /** Some of the tasks waited. */
  readonly someMicroseconds: number;
  /** All of them did; NaN where the kernel does not write that line (cpu before 5.13). */
  readonly fullMicroseconds: number;
}

/** Shared by all pressure files, like the read buffer. */
const totals: StallTotals = { some: Number.NaN, full: Number.NaN };

/** One pressure file of the node (/proc/pressure/…) or of a cgroup (….pressure); absent on kernels without PSI. */
export function stallSource(name: string, directory: string, fileName: string): Source<Stalls> {
  const file = new KernelFile(directory, fileName);

  function read(): Reading<Stalls> {
    const length = file.read();
    if (length < 0) return missingFrom(file, length);
    scanStalls(scratch, length, totals);
    if (Number.isNaN(totals.some)) return failed(`cannot use ${file.path}: no some line with a total`);
    return reading({ someMicroseconds: totals.some, fullMicroseconds: totals.full });
  }
  return { name, read, close: () => file.close() };
}

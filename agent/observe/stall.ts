import { missingFrom } from './field-file.ts';
import { KernelFile, scratch } from './kernel-file.ts';
import { scanStalls, STALL_NUMBERS } from './parse-bytes.ts';
import { failed, reading, type Reading, type Source } from './reading.ts';

/** One line of a pressure file: averages in percent, the counter in microseconds. */
export interface Stall {
  readonly avg10: number;
  readonly avg60: number;
  readonly avg300: number;
  readonly totalMicroseconds: number;
}

/** `full` is `undefined` where the kernel does not write that line (cpu before 5.13). */
export interface Stalls {
  readonly some: Stall;
  readonly full: Stall | undefined;
}

/** Shared by all pressure files, like the buffer. */
const someNumbers = new Float64Array(STALL_NUMBERS);
const fullNumbers = new Float64Array(STALL_NUMBERS);

function stallOf(values: Float64Array): Stall | undefined {
  const [avg10 = Number.NaN, avg60 = Number.NaN, avg300 = Number.NaN, totalMicroseconds = Number.NaN] = values;
  return Number.isNaN(totalMicroseconds) ? undefined : { avg10, avg60, avg300, totalMicroseconds };
}

/** One pressure file of the node (/proc/pressure/…) or of a cgroup (….pressure); absent on kernels without PSI. */
export function stallSource(name: string, directory: string, fileName: string): Source<Stalls> {
  const file = new KernelFile(directory, fileName);

  function read(): Reading<Stalls> {
    const length = file.read();
    if (length < 0) return missingFrom(file, length);
    scanStalls(scratch, length, someNumbers, fullNumbers);
    const some = stallOf(someNumbers);
    if (some === undefined) return failed(`cannot use ${file.path}: no some line with a total`);
    return reading({ some, full: stallOf(fullNumbers) });
  }
  return { name, read, close: () => file.close() };
}

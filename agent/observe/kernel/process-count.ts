import { NumberFile } from '#agent/observe/source/field-file.ts';
import { KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { parseInteger } from '#agent/observe/source/parse-bytes.ts';
import { absent, failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

/** Existing tasks and their maximum: the inputs of the kubelet's `pid.available`. */
export interface ProcessCount {
  readonly tasks: number;
  readonly most: number;
}

const SLASH = 47;
const SPACE = 32;

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

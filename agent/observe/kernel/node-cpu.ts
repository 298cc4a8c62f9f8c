import { KernelFile, scratch } from '#agent/observe/source/kernel-file.ts';
import { nextLine, parseInteger } from '#agent/observe/source/parse-bytes.ts';
import { absent, failed, reading, type Reading, type Source } from '#agent/observe/source/reading.ts';

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

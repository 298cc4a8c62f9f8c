import { type Reading, type Source, absent, failed, reading } from '#agent/observe/source/source.ts';
import { stallSource, type Stalls } from '#agent/observe/source/stall-meter.ts';
import {
  defineFields,
  NumberFile,
  readFields,
  KernelFile,
  missingFrom,
  scratch,
} from '#agent/observe/source/kernel-file.ts';
import { nextLine, parseInteger } from '#agent/observe/source/parse-bytes.ts';
import type { CgroupLayout } from './cgroup-layout.ts';
import { memoryEventsSource, type MemoryEvents } from './memory-cgroup.ts';

/** Everything about a cgroup except its memory usage; read at the slow interval. */
export interface CgroupDetails {
  readonly events: Reading<MemoryEvents>;
  readonly cpu: Reading<CgroupCpu>;
  readonly pids: Reading<CgroupPids>;
  readonly io: Reading<CgroupIo>;
  readonly memoryStalls: Reading<Stalls>;
  readonly cpuStalls: Reading<Stalls>;
  readonly ioStalls: Reading<Stalls>;
}

export type DetailSources = {
  readonly [K in keyof CgroupDetails]: CgroupDetails[K] extends Reading<infer T> ? Source<T> : never;
};

/** Opens the files of the cgroup at `path` below each root. */
export function openDetails(layout: CgroupLayout, path: string): DetailSources {
  const pressure = `${layout.pressure ?? ''}/${path}`;
  return {
    events: memoryEventsSource(layout, path),
    cpu: cpuCgroupSource(layout, path),
    pids: pidsCgroupSource(layout, path),
    io: ioCgroupSource(layout, path),
    memoryStalls: stallSource('pod-memory-stalls', pressure, 'memory.pressure'),
    cpuStalls: stallSource('pod-cpu-stalls', pressure, 'cpu.pressure'),
    ioStalls: stallSource('pod-io-stalls', pressure, 'io.pressure'),
  };
}

export function readDetails(sources: DetailSources): CgroupDetails {
  return {
    events: sources.events.read(),
    cpu: sources.cpu.read(),
    pids: sources.pids.read(),
    io: sources.io.read(),
    memoryStalls: sources.memoryStalls.read(),
    cpuStalls: sources.cpuStalls.read(),
    ioStalls: sources.ioStalls.read(),
  };
}

export function closeDetails({ events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls }: DetailSources): void {
  for (const source of [events, cpu, pids, io, memoryStalls, cpuStalls, ioStalls]) source.close();
}

/** CPU time of one cgroup since it was created. */
export interface CgroupCpu {
  readonly usageSeconds: number;
  /** Time that tasks waited because the cgroup had used up its quota: evidence of CPU pressure. */
  readonly throttledSeconds: number;
}

const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;

const V2_FIELDS = defineFields('usage_usec', 'throttled_usec');
const V1_FIELDS = defineFields('throttled_time');

function v2Source(directory: string): Source<CgroupCpu> {
  const file = new KernelFile(directory, 'cpu.stat');

  function read(): Reading<CgroupCpu> {
    const missing = readFields(file, V2_FIELDS);
    if (missing !== undefined) return missing;
    const usageSeconds = (V2_FIELDS.values[0] ?? Number.NaN) / MICROSECONDS;
    if (Number.isNaN(usageSeconds)) return failed(`cannot use ${directory}/cpu.stat: no usage_usec`);
    return reading({ usageSeconds, throttledSeconds: (V2_FIELDS.values[1] ?? Number.NaN) / MICROSECONDS });
  }
  return { name: 'cpu-cgroup', read, close: () => file.close() };
}

function v1Source(accounting: string, cpu: string): Source<CgroupCpu> {
  const usage = new NumberFile(accounting, 'cpuacct.usage');
  const stat = new KernelFile(cpu, 'cpu.stat');

  function read(): Reading<CgroupCpu> {
    const nanoseconds = usage.readNumber();
    if (nanoseconds === undefined) return usage.missing;
    if (!Number.isFinite(nanoseconds)) return failed(`cannot use ${accounting}/cpuacct.usage: expected nanoseconds`);
    const isMissing = readFields(stat, V1_FIELDS) !== undefined;
    const throttled = isMissing ? Number.NaN : (V1_FIELDS.values[0] ?? Number.NaN);
    return reading({ usageSeconds: nanoseconds / NANOSECONDS, throttledSeconds: throttled / NANOSECONDS });
  }

  function close(): void {
    usage.close();
    stat.close();
  }
  return { name: 'cpu-cgroup', read, close };
}

function noTree(): Source<CgroupCpu> {
  const answer = absent('this node has no cpu accounting tree');
  return { name: 'cpu-cgroup', read: () => answer, close: () => undefined };
}

/** CPU usage and throttling of one group: cpu.stat on v2, cpuacct.usage and cpu.stat on v1. */
export function cpuCgroupSource(layout: CgroupLayout, path: string): Source<CgroupCpu> {
  if (layout.cpuAccounting === undefined) return noTree();
  if (layout.version === 'v2') return v2Source(`${layout.cpuAccounting}/${path}`);
  return v1Source(`${layout.cpuAccounting}/${path}`, `${layout.cpu ?? layout.cpuAccounting}/${path}`);
}

/** Bytes read and written by one cgroup on all devices since it was created. */
export interface CgroupIo {
  readonly readBytes: number;
  readonly writtenBytes: number;
}

const encoder = new TextEncoder();
/** File and keywords of both directions, by cgroup version. */
const WORDS = {
  v2: { file: 'io.stat', read: encoder.encode('rbytes='), written: encoder.encode('wbytes=') },
  v1: {
    file: 'blkio.throttle.io_service_bytes_recursive',
    read: encoder.encode(' Read '),
    written: encoder.encode(' Write '),
  },
} as const;

function startsWith(at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index += 1) if (scratch[at + index] !== word[index]) return false;
  return true;
}

/** The number after `word` on the line that starts at `start`, or 0: an idle device has no such word. */
function numberBehind(word: Uint8Array, start: number, end: number): number {
  for (let at = start; at < end; at += 1) {
    if (scratch[at] === word[0] && startsWith(at, word)) return parseInteger(scratch, at + word.length, end);
  }
  return 0;
}

function sumLines(length: number, words: (typeof WORDS)['v1' | 'v2']): CgroupIo {
  let readBytes = 0;
  let writtenBytes = 0;
  for (let at = 0; at < length; at = nextLine(scratch, at, length)) {
    const end = nextLine(scratch, at, length) - 1;
    readBytes += numberBehind(words.read, at, end);
    writtenBytes += numberBehind(words.written, at, end);
  }
  return { readBytes, writtenBytes };
}

/** io.stat on v2, blkio on v1; absent if the tree or the file does not exist. */
export function ioCgroupSource(layout: CgroupLayout, path: string): Source<CgroupIo> {
  const words = WORDS[layout.version];
  const file = new KernelFile(`${layout.io ?? ''}/${path}`, words.file);
  const noTree = absent('this node has no io tree');

  function read(): Reading<CgroupIo> {
    if (layout.io === undefined) return noTree;
    const length = file.read();
    if (length < 0) return missingFrom(file, length);
    const io = sumLines(length, words);
    return Number.isNaN(io.readBytes + io.writtenBytes)
      ? failed(`cannot use ${file.path}: expected numbers of bytes`)
      : reading(io);
  }
  return { name: 'io-cgroup', read, close: () => file.close() };
}

/** Tasks of one cgroup, by which the kubelet ranks for `pid.available`. */
export interface CgroupPids {
  readonly tasks: number;
}

/** pids.current, the same file on v1 and v2; the root of either has none. */
export function pidsCgroupSource(layout: CgroupLayout, path: string): Source<CgroupPids> {
  const directory = `${layout.pids ?? ''}/${path}`;
  const current = new NumberFile(directory, 'pids.current');
  const noTree = absent('this node has no pids tree');

  function read(): Reading<CgroupPids> {
    if (layout.pids === undefined) return noTree;
    const tasks = current.readNumber();
    if (tasks === undefined) return current.missing;
    return Number.isFinite(tasks)
      ? reading({ tasks })
      : failed(`cannot use ${directory}/pids.current: expected a number`);
  }
  return { name: 'pids-cgroup', read, close: () => current.close() };
}

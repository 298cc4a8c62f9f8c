import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { readFile } from 'node:fs/promises';
import type * as NodeOsUtils from 'node-os-utils';
import type * as Systeminformation from 'systeminformation';
import type { Clock } from '#shared/runtime/clock.ts';

/** What a process uses. */
export interface ProcessUsage {
  /** Anonymous and shared memory: freed when the process ends. */
  readonly workingSetBytes: number;
  readonly rssBytes: number;
  /** CPU time since its start. */
  readonly cpuNanoSeconds: number;
}

/** How the node can measure its processes. */
export const PROCESS_SOURCES = ['procfs', 'systeminformation', 'node-os-utils'] as const;
export type ProcessSourceName = (typeof PROCESS_SOURCES)[number];

/** Measures processes. */
export interface ProcessSource {
  /** Name of the method, for messages. */
  readonly name: string;
  /** How often a new measurement is worthwhile. */
  readonly periodMs: number;
  /** Usage by process number; processes that are gone are missing. Rejects when processes cannot be listed. */
  readonly read: (pids: readonly number[]) => Promise<ReadonlyMap<number, ProcessUsage>>;
}

const PRINT_OWN_MEMORY = 'process.stdout.write(String(process.memoryUsage.rss()))';

/** The requested source; by default /proc if it exists, else the first library that lists processes. */
export async function openProcessSource(
  wanted: ProcessSourceName | undefined,
  clock: Pick<Clock, 'monotonic'>,
): Promise<ProcessSource> {
  if (wanted === 'procfs' || (wanted === undefined && hasProcfs())) return PROCFS_SOURCE;
  const idleRssBytes = await readIdleRss();
  const { name, list } = listOf(wanted);
  return createListedSource({ name, list, idleRssBytes, clock });
}

/** Whether processes can be measured through /proc. */
export function hasProcfs(): boolean {
  return existsSync('/proc/self/status');
}

function listOf(wanted: Exclude<ProcessSourceName, 'procfs'> | undefined): {
  readonly name: string;
  readonly list: ListProcesses;
} {
  if (wanted === 'systeminformation') return { name: wanted, list: listWithSysteminformation };
  if (wanted === 'node-os-utils') return { name: wanted, list: listWithNodeOsUtils };
  const list = firstToList(listWithSysteminformation, listWithNodeOsUtils);
  return { name: 'systeminformation and node-os-utils', list };
}

/** systeminformation returns an empty list on failure. */
export function firstToList(first: ListProcesses, second: ListProcesses): ListProcesses {
  return async () => {
    const listed = await first().catch(() => []);
    return listed.length > 0 ? listed : second();
  };
}

async function readIdleRss(): Promise<number> {
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, [...SMALL_HEAP, '--eval', PRINT_OWN_MEMORY], { env: {} });
  return Number(stdout);
}

const require = createRequire(import.meta.url);
const KIBIBYTE = 1024;

/**
 * Lists with systeminformation, loaded from its own file, since the whole library takes 3 MiB more. On macOS it passes
 * on the percentage of one processor that `ps` prints; elsewhere it computes that of all.
 */
const listWithSysteminformation: ListProcesses = async () => {
  const { processes } = require('systeminformation/lib/processes.js') as Pick<typeof Systeminformation, 'processes'>;
  const { list } = await processes();
  const processors = process.platform === 'darwin' ? 1 : availableParallelism();
  return list.map(({ pid, memRss, cpu }) => ({ pid, rssBytes: memRss * KIBIBYTE, cores: (cpu / 100) * processors }));
};

/** Lists with node-os-utils, which on Windows knows no CPU use, and on Linux the average since a process started. */
const listWithNodeOsUtils: ListProcesses = async () => {
  const { AdapterFactory, ProcessMonitor } = await import('node-os-utils');
  const adapter = withTrimmedLines(AdapterFactory.create());
  const answer = await new ProcessMonitor(adapter, { cacheEnabled: false }).list({ skipLimit: true });
  if (!answer.success) throw new Error(`cannot list processes with node-os-utils: ${answer.error.message}`);
  return answer.data.map(({ pid, memoryUsage, cpuUsage }) => ({
    pid,
    rssBytes: memoryUsage.toBytes(),
    cores: cpuUsage / 100,
  }));
};

type Adapter = ReturnType<typeof NodeOsUtils.AdapterFactory.create>;

/** On Linux node-os-utils 2.0.5 overlooks a process whose number has fewer digits than others: `ps` pads it with blanks. */
export function withTrimmedLines(adapter: Adapter): Adapter {
  const execute = adapter.executeCommand.bind(adapter);
  adapter.executeCommand = async (command, options) => {
    const result = await execute(command, options);
    return { ...result, stdout: result.stdout.replace(/^ +/gm, '') };
  };
  return adapter;
}

/** A process as a library lists it. */
export interface ListedProcess {
  readonly pid: number;
  /** Resident memory; 0 for one that has ended and was not yet waited for. */
  readonly rssBytes: number;
  /** CPU use over a recent while. */
  readonly cores: number;
}

/** Lists the processes of this machine. */
export type ListProcesses = () => Promise<readonly ListedProcess[]>;

export interface ListedSourceOptions {
  readonly name: string;
  readonly list: ListProcesses;
  /** Resident memory of a process that holds nothing: mostly the Node binary, which all pods share. */
  readonly idleRssBytes: number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

interface CpuCount {
  readonly at: number;
  readonly nanoSeconds: number;
}

/** Each list starts programs (`ps`, PowerShell), and systeminformation repeats its last answer within 500 ms. */
const PERIOD_MS = 600;
const NANOSECONDS_PER_MS = 1_000_000;

/**
 * Measures processes through a list that has resident memory and CPU use only. Working sets are resident memory above
 * that of an idle process; CPU time is CPU use added up from the first reading on.
 */
export function createListedSource({ name, list, idleRssBytes, clock }: ListedSourceOptions): ProcessSource {
  let counts: ReadonlyMap<number, CpuCount> = new Map();
  return {
    name,
    periodMs: PERIOD_MS,
    async read(pids) {
      const listed = await list();
      if (listed.length === 0) throw new Error(`cannot measure processes: ${name} lists none`);
      const alive = listed.filter(({ pid, rssBytes }) => rssBytes > 0 && pids.includes(pid));
      const at = clock.monotonic();
      counts = new Map(alive.map((each) => [each.pid, nextCount(counts.get(each.pid), each.cores, at)]));
      return new Map(
        alive.map((each) => [each.pid, usageOf(each, idleRssBytes, counts.get(each.pid)?.nanoSeconds ?? 0)]),
      );
    },
  };
}

function nextCount(before: CpuCount | undefined, cores: number, at: number): CpuCount {
  if (before === undefined) return { at, nanoSeconds: 0 };
  return { at, nanoSeconds: before.nanoSeconds + Math.round(cores * (at - before.at) * NANOSECONDS_PER_MS) };
}

function usageOf({ rssBytes }: ListedProcess, idleRssBytes: number, cpuNanoSeconds: number): ProcessUsage {
  return { workingSetBytes: Math.max(0, rssBytes - idleRssBytes), rssBytes, cpuNanoSeconds };
}

const PROCFS_PERIOD_MS = 200;

/** Measures processes through /proc, which gives exact figures and starts no program. */
const PROCFS_SOURCE: ProcessSource = {
  name: 'procfs',
  periodMs: PROCFS_PERIOD_MS,
  async read(pids) {
    const usages = await Promise.all(pids.map((pid) => readProcess(pid)));
    return new Map(pids.flatMap((pid, index) => (usages[index] === undefined ? [] : [[pid, usages[index]] as const])));
  },
};

/** The kernel's USER_HZ is 100 on every architecture that Node runs on. */
const NANOSECONDS_PER_TICK = 10_000_000;

/** The usage of a process from /proc, `undefined` once it is gone; file pages are the Node binary, shared by all pods. */
export async function readProcess(pid: number, procfs = '/proc'): Promise<ProcessUsage | undefined> {
  try {
    const [status, stat] = await Promise.all([
      readFile(`${procfs}/${pid}/status`, 'utf8'),
      readFile(`${procfs}/${pid}/stat`, 'utf8'),
    ]);
    return parseUsage(status, stat);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** A zombie has no memory lines: it counts as gone. */
export function parseUsage(status: string, stat: string): ProcessUsage | undefined {
  const anonymous = kibibytes(status, 'RssAnon');
  if (anonymous === undefined) return undefined;
  const workingSetBytes = anonymous + (kibibytes(status, 'RssShmem') ?? 0);
  return { workingSetBytes, rssBytes: kibibytes(status, 'VmRSS') ?? workingSetBytes, cpuNanoSeconds: cpuTime(stat) };
}

function kibibytes(status: string, name: string): number | undefined {
  const line = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(status);
  return line?.[1] === undefined ? undefined : Number(line[1]) * 1024;
}

/** Fields 14 and 15, utime and stime; the name in field 2 may contain anything, blanks and brackets included. */
function cpuTime(stat: string): number {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * NANOSECONDS_PER_TICK;
}

/** ESRCH comes from a process that ends between open and read. */
function isGone(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' || code === 'ESRCH';
}

/** Flags of Node for demo processes: memory that the images hold lies outside V8's heap, so the heap can be small. */
export const SMALL_HEAP = ['--max-semi-space-size=1', '--max-old-space-size=64'];

import type { Clock } from '#shared/runtime/clock.ts';
import type { ProcessSource, ProcessUsage } from './process-source.ts';

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

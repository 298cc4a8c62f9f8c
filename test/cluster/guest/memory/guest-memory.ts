import { readFileSync } from 'node:fs';
import { letTimePass } from '#test/build/waiting.ts';

/** What is left on the node, in MiB: for processes as the kernel estimates it, and as the kubelet computes it. */
export interface Left {
  readonly memAvailableMiB: number;
  readonly kubeletMiB: number;
}

/** The node's memory from the kernel's files, read without any code of the agent. */
export interface GuestMemory {
  readonly totalMiB: number;
  readonly left: () => Left;
  /** What must be written to a disk before it can be given back, in MiB: no process can have it at once. */
  readonly unwrittenMiB: () => number;
  /** For how long all tasks have waited for memory since the start. */
  readonly stalledMs: () => number;
  readonly oomKills: () => number;
}

const KIB_IN_MIB = 1024;
const MIB = 1024 * 1024;
const POLL_MS = 50;
const SHOWN = 100;

export function openGuestMemory(): GuestMemory {
  return {
    totalMiB: figureOf(read('/proc/meminfo'), 'MemTotal:') / KIB_IN_MIB,
    left: () => {
      const meminfo = read('/proc/meminfo');
      const totalMiB = figureOf(meminfo, 'MemTotal:') / KIB_IN_MIB;
      return {
        memAvailableMiB: Math.round(figureOf(meminfo, 'MemAvailable:') / KIB_IN_MIB),
        kubeletMiB: Math.round(totalMiB - workingSetBytes(read('/sys/fs/cgroup/memory.stat')) / MIB),
      };
    },
    unwrittenMiB: () => {
      const meminfo = read('/proc/meminfo');
      return (figureOf(meminfo, 'Dirty:') + figureOf(meminfo, 'Writeback:')) / KIB_IN_MIB;
    },
    stalledMs: () => figureOf(read('/proc/pressure/memory'), 'full .*total=') / 1000,
    oomKills: () => figureOf(read('/proc/vmstat'), 'oom_kill'),
  };
}

/** Of the whole node, as the kubelet counts it: all pages of processes and files but the inactive ones of files. */
function workingSetBytes(stat: string): number {
  return figureOf(stat, 'anon') + figureOf(stat, 'file') - figureOf(stat, 'inactive_file');
}

function read(file: string): string {
  return readFileSync(file, 'utf8');
}

/** The number after the first line beginning with this. */
function figureOf(text: string, key: string): number {
  const value = new RegExp(`^${key}\\s*(\\d+)`, 'm').exec(text)?.[1];
  if (value === undefined) throw new Error(`cannot find ${key} in ${text.slice(0, SHOWN)}`);
  return Number(value);
}

/** Watches until it is done or the time is over; the least that was seen of each figure, the last look included. */
export async function leastUntil(
  memory: Pick<GuestMemory, 'left'>,
  isDone: (left: Left) => boolean,
  mostMs: number,
): Promise<Left> {
  const endsAt = performance.now() + mostMs;
  let left = memory.left();
  let least = left;
  while (performance.now() < endsAt && !isDone(left)) {
    await letTimePass(POLL_MS, 'watched');
    left = memory.left();
    least = lesser(least, left);
  }
  return least;
}

/** The lesser of each figure. */
export function lesser(left: Left, right: Left): Left {
  return {
    memAvailableMiB: Math.min(left.memAvailableMiB, right.memAvailableMiB),
    kubeletMiB: Math.min(left.kubeletMiB, right.kubeletMiB),
  };
}

import { setTimeout as sleep } from 'node:timers/promises';
import { findCgroupLayout } from '#agent/observe/cgroup-layout.ts';
import { meminfoSource } from '#agent/observe/meminfo.ts';
import { nodeMemorySource } from '#agent/observe/memory-cgroup.ts';
import type { Reading } from '#agent/observe/reading.ts';
import { vmstatSource } from '#agent/observe/vmstat.ts';

/** What is left on the node, in MiB: for processes as the kernel estimates it, and as the kubelet computes it. */
export interface Left {
  readonly memAvailableMiB: number;
  readonly kubeletMiB: number;
}

/** The node's memory, read apart from the agent. */
export interface GuestMemory {
  readonly left: () => Left;
  readonly oomKills: () => number;
}

const MIB = 1024 * 1024;
const POLL_MS = 50;

export function openGuestMemory(): GuestMemory {
  const found = findCgroupLayout('/sys/fs/cgroup', '');
  if (found.kind === 'unknown') throw new Error(found.because);
  const [info, group, vmstat] = [meminfoSource('/proc'), nodeMemorySource(found.layout), vmstatSource('/proc')];
  return {
    left: () => {
      const { totalBytes, availableBytes } = valueOf(info.read());
      const kubeletBytes = totalBytes - valueOf(group.read()).workingSetBytes;
      return { memAvailableMiB: Math.round(availableBytes / MIB), kubeletMiB: Math.round(kubeletBytes / MIB) };
    },
    oomKills: () => valueOf(vmstat.read()).oomKills,
  };
}

function valueOf<T>(answer: Reading<T>): T {
  if (answer.kind !== 'reading') throw new Error(answer.because);
  return answer.value;
}

/** Watches until it is done or the time is over; the least that was seen of each figure. */
export async function leastUntil(memory: GuestMemory, isDone: (left: Left) => boolean, mostMs: number): Promise<Left> {
  const endsAt = performance.now() + mostMs;
  let least = memory.left();
  for (let left = least; performance.now() < endsAt && !isDone(left); left = memory.left()) {
    least = {
      memAvailableMiB: Math.min(least.memAvailableMiB, left.memAvailableMiB),
      kubeletMiB: Math.min(least.kubeletMiB, left.kubeletMiB),
    };
    await sleep(POLL_MS);
  }
  return least;
}

import { totalmem } from 'node:os';
import { findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { nodeMemorySource } from '#agent/observe/cgroup/memory-cgroup.ts';

/** This machine's memory as kubelet and agent count it. */
export interface AvailableMemory {
  /** Bytes, now. */
  read(): number;
  /** Resolves with the time, in milliseconds since 1970, at which less than this many bytes are left. */
  crossing(belowBytes: number): Promise<number>;
}

/** Milliseconds between two measurements, which limits the accuracy. */
const PERIOD_MS = 5;
const CGROUPS = '/sys/fs/cgroup';

/** `kubepods` is the path of the group of all pods. Throws when the figures cannot be read. */
export function availableMemory(kubepods: string): AvailableMemory {
  const found = findCgroupLayout(CGROUPS, kubepods);
  if (found.kind === 'unknown') throw new Error(found.because);
  const memory = nodeMemorySource(found.layout);
  const read = (): number => {
    const answer = memory.read();
    if (answer.kind !== 'reading') throw new Error(`cannot read the memory of this machine below ${CGROUPS}`);
    return totalmem() - answer.value.workingSetBytes;
  };
  const crossing = async (belowBytes: number): Promise<number> => {
    while (read() >= belowBytes) await new Promise((resolve) => setTimeout(resolve, PERIOD_MS));
    return Date.now();
  };
  return { read, crossing };
}

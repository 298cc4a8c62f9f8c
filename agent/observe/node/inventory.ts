import { cpus, release } from 'node:os';
import { loadMemory } from './second-opinions.ts';

/** Hardware and kernel of the node: changes seldom and decides nothing; it gives context to metrics and logs. */
export interface Inventory {
  /** Release of the kernel, on which the available signals depend (PSI, cgroup version). */
  readonly kernel: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** 0 without swap. */
  readonly swapBytes: number;
}

/**
 * Reads the memory from systeminformation: of its calls that describe a Linux machine only `mem()` reads files;
 * `cpu()`, `osInfo()`, `system()`, `fsSize()`, `currentLoad()` and even `time()` start programs. Kernel and processors
 * come from Node.js itself.
 */
export async function askInventory(): Promise<Inventory> {
  const { total, swaptotal } = await loadMemory()();
  return { kernel: release(), cpus: cpus().length, memoryBytes: total, swapBytes: swaptotal };
}

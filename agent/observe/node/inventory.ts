import { cpus, release } from 'node:os';
import { loadMemory } from './second-opinions.ts';

/** What the node is made of: changes seldom, decides nothing, and tells readers of metrics and logs what they look at. */
export interface Inventory {
  /** Release of the kernel, on which signals hang (PSI, cgroup version). */
  readonly kernel: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** 0 without swap. */
  readonly swapBytes: number;
}

/**
 * Asks systeminformation, as far as it starts no program: of its calls that tell what a Linux machine is made of, `mem()`
 * alone reads files; `cpu()`, `osInfo()`, `system()`, `fsSize()`, `currentLoad()` and even `time()` call programs. Kernel
 * and processors are what Node knows itself.
 */
export async function askInventory(): Promise<Inventory> {
  const { total, swaptotal } = await loadMemory()();
  return { kernel: release(), cpus: cpus().length, memoryBytes: total, swapBytes: swaptotal };
}

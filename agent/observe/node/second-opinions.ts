import { createRequire } from 'node:module';
import { cpus, release } from 'node:os';
import { dirname, join } from 'node:path';
import type * as NodeOsUtils from 'node-os-utils';
import type * as Systeminformation from 'systeminformation';

/** The node's memory as another library reports it; used to check the signal, never as the signal. */
export interface SecondOpinion {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/**
 * Reads once. The libraries are loaded on first use, because a process without the cross-check can save their memory.
 */
export type AskSecondOpinion = () => Promise<SecondOpinion>;

const require = createRequire(import.meta.url);

/**
 * systeminformation's `mem()`, which starts no child process; loaded from its own file, since the whole library takes 3
 * MiB more.
 */
function loadMemory(): typeof Systeminformation.mem {
  const { mem } = require('systeminformation/lib/memory.js') as Pick<typeof Systeminformation, 'mem'>;
  return mem;
}

export async function askSysteminformation(): Promise<SecondOpinion> {
  const { total, available } = await loadMemory()();
  return { totalBytes: total, availableBytes: available };
}

type Adapter = ConstructorParameters<typeof NodeOsUtils.MemoryMonitor>[0];

/**
 * node-os-utils' memory monitor without its cache. The main entry point would load all other monitors too, 1 MiB more.
 */
export async function askNodeOsUtils(): Promise<SecondOpinion> {
  const root = dirname(require.resolve('node-os-utils'));
  const { MemoryMonitor } = require(join(root, 'monitors/memory-monitor.js')) as Pick<
    typeof NodeOsUtils,
    'MemoryMonitor'
  >;
  const { LinuxAdapter } = require(join(root, 'adapters/linux-adapter.js')) as { LinuxAdapter: new () => Adapter };
  const answer = await new MemoryMonitor(new LinuxAdapter(), { cacheEnabled: false }).info();
  if (!answer.success) throw new Error(`node-os-utils has no memory information: ${answer.error.message}`);
  // Its fallback answers in KiB; the comparison rejects that by the total.
  return { totalBytes: answer.data.total.toBytes(), availableBytes: answer.data.available.toBytes() };
}

/**
 * Hardware and kernel of the node. They rarely change and affect no decision; metrics and logs show them as context.
 */
export interface Inventory {
  /** Release of the kernel, on which the available signals depend (PSI, cgroup version). */
  readonly kernel: string;
  readonly cpus: number;
  readonly memoryBytes: number;
  /** 0 without swap. */
  readonly swapBytes: number;
}

/**
 * Reads the memory from systeminformation: on Linux only its `mem()` reads files, while `cpu()`, `osInfo()`,
 * `system()`, `fsSize()`, `currentLoad()` and even `time()` start programs. Kernel and processors come from Node.js
 * itself.
 */
export async function askInventory(): Promise<Inventory> {
  const { total, swaptotal } = await loadMemory()();
  return { kernel: release(), cpus: cpus().length, memoryBytes: total, swapBytes: swaptotal };
}

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type * as NodeOsUtils from 'node-os-utils';
import type * as Systeminformation from 'systeminformation';

/** What another library says of the node's memory; never the signal, only the doubt about it. */
export interface SecondOpinion {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/** Asks once; the libraries are loaded at the first question, because they cost memory that a process without the check can save. */
export type AskSecondOpinion = () => Promise<SecondOpinion>;

const require = createRequire(import.meta.url);

/** systeminformation's `mem()`, which starts no child process. Its file for memory alone: the whole library is 3 MiB more. */
export function loadMemory(): typeof Systeminformation.mem {
  const { mem } = require('systeminformation/lib/memory.js') as Pick<typeof Systeminformation, 'mem'>;
  return mem;
}

export async function askSysteminformation(): Promise<SecondOpinion> {
  const { total, available } = await loadMemory()();
  return { totalBytes: total, availableBytes: available };
}

type Adapter = ConstructorParameters<typeof NodeOsUtils.MemoryMonitor>[0];

/** node-os-utils' monitor of memory without its cache. Its front door also loads all other monitors and systems, 1 MiB. */
export async function askNodeOsUtils(): Promise<SecondOpinion> {
  const root = dirname(require.resolve('node-os-utils'));
  const { MemoryMonitor } = require(join(root, 'monitors/memory-monitor.js')) as Pick<
    typeof NodeOsUtils,
    'MemoryMonitor'
  >;
  const { LinuxAdapter } = require(join(root, 'adapters/linux-adapter.js')) as { LinuxAdapter: new () => Adapter };
  const answer = await new MemoryMonitor(new LinuxAdapter(), { cacheEnabled: false }).info();
  if (!answer.success) throw new Error(`node-os-utils has no memory information: ${answer.error.message}`);
  // Its fall-back answers in KiB, which the comparison rejects by the total.
  return { totalBytes: answer.data.total.toBytes(), availableBytes: answer.data.available.toBytes() };
}

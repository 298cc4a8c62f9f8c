import { createRequire } from 'node:module';
import type * as Systeminformation from 'systeminformation';

/** What another library says of the node's memory; never the signal, only the doubt about it. */
export interface SecondOpinion {
  readonly totalBytes: number;
  readonly availableBytes: number;
}

/** Asks once; the libraries are loaded at the first question, because they cost memory that a process without the check can save. */
export type AskSecondOpinion = () => Promise<SecondOpinion>;

/** Its file for memory alone: the whole library is 3 MiB more. */
const require = createRequire(import.meta.url);

/** systeminformation's `mem()`, which starts no child process; loaded at the first call. */
export function loadMemory(): typeof Systeminformation.mem {
  const { mem } = require('systeminformation/lib/memory.js') as Pick<typeof Systeminformation, 'mem'>;
  return mem;
}

export async function askSysteminformation(): Promise<SecondOpinion> {
  const { total, available } = await loadMemory()();
  return { totalBytes: total, availableBytes: available };
}

/** node-os-utils without its cache; its fall-back answers in KiB, which the comparison rejects by the total. */
export async function askNodeOsUtils(): Promise<SecondOpinion> {
  const { OSUtils } = await import('node-os-utils');
  const answer = await new OSUtils({ cacheEnabled: false }).memory.info();
  if (!answer.success) throw new Error(`node-os-utils has no memory information: ${answer.error.message}`);
  return { totalBytes: answer.data.total.toBytes(), availableBytes: answer.data.available.toBytes() };
}

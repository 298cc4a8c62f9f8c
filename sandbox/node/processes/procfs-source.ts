import type { ProcessSource } from './process-source.ts';
import { readProcess } from './read-process.ts';

const PERIOD_MS = 200;

/** Measures processes through /proc, which gives exact figures and starts no program. */
export const PROCFS_SOURCE: ProcessSource = {
  name: 'procfs',
  periodMs: PERIOD_MS,
  async read(pids) {
    const usages = await Promise.all(pids.map((pid) => readProcess(pid)));
    return new Map(pids.flatMap((pid, index) => (usages[index] === undefined ? [] : [[pid, usages[index]] as const])));
  },
};

import { existsSync, readdirSync } from 'node:fs';
import { markOf } from './leftovers.ts';
import { textOf } from './process-identity.ts';

const PROC = '/proc';

/** The processes that were started for the run, this one left out. */
export function markedProcesses(folder: string): readonly number[] {
  return processesWith(markOf(folder));
}

/** The processes that were started with this in their environment (`NAME=VALUE`), this one left out. */
export function processesWith(variable: string): readonly number[] {
  const hasIt = (pid: number): boolean => textOf(`${PROC}/${pid}/environ`).split('\0').includes(variable);
  return allProcesses().filter((pid) => pid !== process.pid && hasIt(pid));
}

/** Ends a process at once; it may be gone already. */
export function kill(pid: number): void {
  if (existsSync(`${PROC}/${pid}`)) process.kill(pid, 'SIGKILL');
}

function allProcesses(): readonly number[] {
  if (!existsSync(PROC)) return [];
  return readdirSync(PROC)
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

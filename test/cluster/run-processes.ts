import { existsSync, readdirSync } from 'node:fs';
import { isMarked } from './leftovers.ts';
import { textOf } from './process-identity.ts';

const PROC = '/proc';

/** The processes that were started for the run, this one left out. */
export function markedProcesses(folder: string): readonly number[] {
  return allProcesses().filter((pid) => pid !== process.pid && isMarked(textOf(`${PROC}/${pid}/environ`), folder));
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

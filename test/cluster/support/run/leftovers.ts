import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from './process-identity.ts';

/**
 * What may outlive the processes of a run.
 *
 * - `cgroup`: a cgroup with all below it and the processes inside, by its path below the root of every hierarchy
 *   (`plimsoll-4711`, not `/sys/fs/cgroup/memory/plimsoll-4711`). Never one that others use, such as `kubepods`.
 * - `mount`: every mount at or below an absolute path. Those below the run's own folder need no entry.
 * - `networkNamespace`: a name under /run/netns, with the interfaces inside.
 */
export interface Leftover {
  readonly kind: 'cgroup' | 'mount' | 'networkNamespace';
  readonly what: string;
}

const MARK = 'PLIMSOLL_RUN_FOLDER';

/**
 * Notes in the run's folder what `endRun` has to remove, called by the owner at its end, or a later run when the
 * owner was killed. Call it **before** making the thing. Processes need no entry, but `markedEnvironment`.
 */
export function registerLeftover(folder: string, leftover: Leftover): void {
  appendFileSync(ledgerOf(folder), `${JSON.stringify(leftover)}\n`);
}

/** What was noted, of all kinds. */
export function leftoversOf(folder: string): readonly Leftover[] {
  const lines = textOf(ledgerOf(folder)).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Leftover);
}

/**
 * The environment to start every process of a run with. It is handed down to children, so a process that put itself
 * into the background still belongs to the run; containers do not inherit it and are reached through their cgroup.
 */
export function markedEnvironment(folder: string): NodeJS.ProcessEnv {
  return { ...process.env, [MARK]: folder };
}

/** What every process of the run has in its environment, as `NAME=VALUE`. */
export function markOf(folder: string): string {
  return `${MARK}=${folder}`;
}

function ledgerOf(folder: string): string {
  return join(folder, 'leftovers');
}

import { rmSync } from 'node:fs';
import { endCgroup, endMounts, endNetworkNamespace } from './end-leftover.ts';
import { type Leftover, leftoversOf } from './leftovers.ts';
import { removeAll } from './remove-all.ts';
import { kill, markedProcesses } from './run-processes.ts';
import { listRuns } from './run-folder.ts';

/** In this order: processes hold mounts, and mounts hold namespaces. */
const ENDS: readonly (readonly [Leftover['kind'], (what: string) => Promise<void>])[] = [
  ['cgroup', endCgroup],
  ['mount', endMounts],
  ['networkNamespace', endNetworkNamespace],
];

/**
 * Ends everything that was started for a run and removes its folder: marked processes, what was registered, mounts below
 * the folder. May be called twice, or by two at a time. Rejects when something does not go; then the folder stays.
 */
export async function endRun(folder: string): Promise<void> {
  const leftovers = leftoversOf(folder);
  await removeAll(() => markedProcesses(folder), kill);
  for (const [kind, end] of ENDS) {
    for (const { what } of leftovers.filter((leftover) => leftover.kind === kind)) await end(what);
  }
  await endMounts(folder);
  rmSync(folder, { recursive: true, force: true });
}

/** Ends the runs of this user whose owner is gone, so that nothing is left of a run that was killed. */
export async function sweepDeadRuns(): Promise<void> {
  for (const { folder, isOwnerRunning } of listRuns()) if (!isOwnerRunning) await endRun(folder);
}

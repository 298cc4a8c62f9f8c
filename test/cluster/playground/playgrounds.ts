import { join } from 'node:path';
import type { ProcessIdentity } from '#test/cluster/support/run/process-identity.ts';
import { listRuns, type Run, solePlace } from '#test/cluster/support/run/run-folder.ts';

export const PURPOSE = 'up';

/** There should be one at most; those whose keeper was killed are among them. */
export function playgrounds(): readonly Run[] {
  return listRuns().filter(({ purpose }) => purpose === PURPOSE);
}

/** Held (sole-holder.ts) by the process that keeps the playground, from before it starts anything. */
export function playgroundPlace(): string {
  return solePlace(PURPOSE);
}

/** The message when there is one that cannot be used. */
export function busyWith({ pid }: ProcessIdentity): string {
  return `process ${pid} is just starting or ending it; try again when that is done`;
}

/** There while everything is ready. */
export function introductionFile(folder: string): string {
  return join(folder, 'introduction.txt');
}

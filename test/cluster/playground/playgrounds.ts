import { join } from 'node:path';
import { listRuns, type Run } from '#test/cluster/run-folder.ts';

export const PURPOSE = 'up';

/** There should be one at most; those whose keeper was killed are among them. */
export function playgrounds(): readonly Run[] {
  return listRuns().filter(({ purpose }) => purpose === PURPOSE);
}

/** Written when everything is ready. */
export function introductionFile(folder: string): string {
  return join(folder, 'introduction.txt');
}

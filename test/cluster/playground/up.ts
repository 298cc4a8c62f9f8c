import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '#test/cluster/binaries.ts';
import { sweepDeadRuns } from '#test/cluster/end-run.ts';
import { firstLine } from '#test/cluster/first-line.ts';
import type { KeeperAnswer } from './keep.ts';
import { introductionFile, playgrounds } from './playgrounds.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));

/** Starts the playground in the background, unless it is there, and says how to use it. Rejects when it does not come up. */
export async function up(): Promise<string> {
  await sweepDeadRuns();
  const [present] = playgrounds();
  if (present !== undefined) return `already up\n${introductionOf(present.folder)}`;
  // Here and not in the background, as it may build for minutes.
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`the cluster cannot start: ${binaries.because}`);
  const keeper = spawn(process.execPath, [MAIN, 'keep'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const answer = JSON.parse(await firstLine(keeper.stdout)) as KeeperAnswer;
  if ('failed' in answer) throw new Error(`the cluster did not start: ${answer.failed}`);
  keeper.stdout.destroy();
  keeper.unref();
  return answer.introduction;
}

function introductionOf(folder: string): string {
  const file = introductionFile(folder);
  return existsSync(file) ? readFileSync(file, 'utf8') : `still starting, in ${folder}`;
}

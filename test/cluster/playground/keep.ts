import { once } from 'node:events';
import { rmSync, writeFileSync } from 'node:fs';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { endRun } from '#test/cluster/support/run/end-run.ts';
import { makeRunFolder } from '#test/cluster/support/run/run-folder.ts';
import { leavePlace, takePlace } from '#test/cluster/support/run/sole-holder.ts';
import { introduction } from './introduction.ts';
import { busyWith, introductionFile, playgroundPlace, PURPOSE } from './playgrounds.ts';
import { startPlayground } from './start-playground.ts';

/** What the keeper says, as one line of JSON: the introduction, or why there is nothing to introduce. */
export type KeeperAnswer = { readonly introduction: string } | { readonly failed: string };

/**
 * Holds the playground until SIGTERM, in a process of its own that no terminal ends; with a node, in namespaces of its own.
 * There is one at a time.
 */
export async function keep({ hasNode }: { readonly hasNode: boolean }): Promise<void> {
  const terminated = once(process, 'SIGTERM');
  // The process that asked may be gone; what was started must still be ended.
  process.stdout.on('error', () => undefined);
  const holder = takePlace(playgroundPlace());
  if (holder === undefined) await hold(hasNode, terminated);
  else say({ failed: busyWith(holder) });
}

async function hold(hasNode: boolean, terminated: Promise<unknown>): Promise<void> {
  const folder = makeRunFolder(PURPOSE);
  // A terminal that is closed ends nothing; a timer keeps the process, whose children would else be all it has.
  const stay = setInterval(() => undefined, 60_000);
  try {
    const binaries = findBinaries(process.env);
    if (binaries.kind === 'missing') throw new Error(binaries.because);
    const text = introduction(await startPlayground({ folder, paths: binaries.paths, hasNode }));
    writeFileSync(introductionFile(folder), text);
    say({ introduction: text });
    await terminated;
  } catch (error) {
    say({ failed: error instanceof Error ? error.message : String(error) });
  } finally {
    clearInterval(stay);
    rmSync(introductionFile(folder), { force: true });
    await endRun(folder);
    leavePlace(playgroundPlace());
  }
}

function say(answer: KeeperAnswer): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}

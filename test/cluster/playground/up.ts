import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { findBinaries } from '#test/cluster/support/control-plane/binaries.ts';
import { OWN_NAMESPACES } from '#test/cluster/support/control-plane/cluster.ts';
import { sweepDeadRuns } from '#test/cluster/support/run/end-run.ts';
import { firstLine } from '#test/cluster/support/first-line.ts';
import { findNodePrograms } from '#test/cluster/node/start/node-programs.ts';
import { handPortTo } from '#test/cluster/node/start/relay.ts';
import type { Run } from '#test/cluster/support/run/run-folder.ts';
import { leavePlace } from '#test/cluster/support/run/sole-holder.ts';
import type { KeeperAnswer } from './keep.ts';
import { busyWith, introductionFile, playgroundPlace, playgrounds } from './playgrounds.ts';

type Keeper = ChildProcess & { readonly stdout: Readable };

const KEEP = [fileURLToPath(new URL('./main.ts', import.meta.url)), 'keep'];

/**
 * Starts the playground in the background, unless it is there, and says how to use it: with a node where this machine can
 * be one and the caller lets it. Rejects when it does not come up.
 */
export async function up({ mayHaveNode }: { readonly mayHaveNode: boolean }): Promise<string> {
  await sweepDeadRuns();
  const [present] = playgrounds();
  if (present !== undefined) return `already up\n${introductionOf(present)}`;
  // Here and not in the background, as it may build for minutes.
  const binaries = findBinaries(process.env);
  if (binaries.kind === 'missing') throw new Error(`the cluster cannot start: ${binaries.because}`);
  const hasNode = mayHaveNode && findNodePrograms(process.env).kind === 'found';
  const keeper = hasNode ? await spawnWithNode() : spawnAlone();
  const answer = await answerOf(keeper);
  if ('failed' in answer) throw new Error(`the cluster did not start: ${answer.failed}`);
  keeper.stdout.destroy();
  keeper.unref();
  return answer.introduction;
}

/** Of a keeper that was killed before it said anything nothing is left either. */
async function answerOf(keeper: Keeper): Promise<KeeperAnswer> {
  const exit = once(keeper, 'exit');
  try {
    return JSON.parse(await firstLine(keeper.stdout)) as KeeperAnswer;
  } catch {
    await exit;
    await sweepDeadRuns();
    leavePlace(playgroundPlace());
    return { failed: 'what would keep it ended without a word' };
  }
}

function spawnAlone(): Keeper {
  return spawn(process.execPath, KEEP, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
}

async function spawnWithNode(): Promise<Keeper> {
  const command = [...OWN_NAMESPACES, process.execPath, ...KEEP, '--in-own-namespaces'];
  const keeper = spawn('unshare', command, { detached: true, stdio: ['ignore', 'pipe', 'ignore', 'ipc'] }) as Keeper;
  await handPortTo(keeper);
  return keeper;
}

function introductionOf({ folder, owner }: Run): string {
  const file = introductionFile(folder);
  if (!existsSync(file)) throw new Error(`cannot use the cluster: ${busyWith(owner)}`);
  return readFileSync(file, 'utf8');
}

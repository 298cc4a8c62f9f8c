import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { PROGRAMS } from './support/control-plane/binaries.ts';
import { startCluster } from './support/control-plane/cluster.ts';
import { firstLine } from './support/first-line.ts';
import { killableRun } from './support/run/killable-run.ts';
import { whyNoOwnCluster } from './support/control-plane/own-cluster.ts';
import { ownTemporaryFolder } from './support/run/own-temporary-folder.ts';
import { isRunning, type ProcessIdentity } from './support/run/process-identity.ts';
import { listRuns } from './support/run/run-folder.ts';
import { markedProcesses } from './support/run/run-processes.ts';
import { eventually, letTimePass } from '#test/build/waiting.ts';

const KEEPER = fileURLToPath(new URL('./support/control-plane/keeper.ts', import.meta.url));
/** Before the keeper, amid programs that come up, shortly before they are up. */
const STARTING_MS = [100, 1_000, 2_500];

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`a control plane of our own${why ?? ''}`, () => {
  const temporary = ownTemporaryFolder();

  test('leaves nothing behind when the process that started it is killed', async () => {
    const { runner, folder } = await startRunner();
    const keeper = ownerOf(folder);
    expect(markedProcesses(folder)).toHaveLength(4);
    runner.kill('SIGKILL');
    await gone(folder, keeper);
  });

  test('leaves nothing behind when its keeper is killed amid the start', async () => {
    const starting = startCluster();
    const keeper = await eventually(() => {
      const [run] = listRuns().filter(({ folder }) => markedProcesses(folder).length > 0);
      return run === undefined ? Promise.reject(new Error('nothing has started yet')) : Promise.resolve(run.owner);
    });
    process.kill(keeper.pid, 'SIGKILL');
    await expect(starting).rejects.toThrow('the control plane did not start: the keeper ended');
    expect([temporary.processes(), listRuns()]).toEqual([[], []]);
  });

  test.each(STARTING_MS)(
    'leaves nothing behind when the process that starts it is killed %i ms later',
    async (delayMs) => {
      const runner = spawn(process.execPath, killableRun(), { stdio: 'ignore' });
      await letTimePass(delayMs, 'load');
      runner.kill('SIGKILL');
      await eventually(() => {
        expect([temporary.processes(), listRuns()]).toEqual([[], []]);
        return Promise.resolve();
      }, 60_000);
    },
  );

  test('leaves nothing behind when a start that gets nowhere is given up', async () => {
    const keeper = startKeeper({ ...process.env, KUBEBUILDER_ASSETS: programsThatDoNothing() });
    await eventually(() => {
      const [run] = listRuns();
      expect(run === undefined ? [] : markedProcesses(run.folder)).toHaveLength(2);
      return Promise.resolve();
    });
    keeper.stdin.end();
    await once(keeper, 'exit');
    expect([temporary.processes(), listRuns()]).toEqual([[], []]);
  });

  test('leaves nothing behind when its keeper is killed', async () => {
    const startup = await startCluster();
    if (startup.kind === 'missing') throw new Error(startup.because);
    const { cluster } = startup;
    const keeper = ownerOf(cluster.folder);
    process.kill(keeper.pid, 'SIGKILL');
    await gone(cluster.folder, keeper);
    await expect(cluster.stop('etcd')).rejects.toThrow('cannot stop etcd: the keeper ended');
    await cluster.close();
  });

  test('leaves nothing behind after the next start when all of them are killed', async () => {
    const keeper = startKeeper(process.env);
    const { ready } = JSON.parse(await firstLine(keeper.stdout)) as { ready: { folder: string } };
    const { folder } = ready;
    keeper.kill('SIGKILL');
    await once(keeper, 'exit');
    expect(markedProcesses(folder)).toHaveLength(4);
    await once(startKeeper({ ...process.env, KUBEBUILDER_ASSETS: '/nowhere' }), 'exit');
    expect([markedProcesses(folder), existsSync(folder)]).toEqual([[], false]);
  });
});

/** A process that starts a control plane and then does nothing. */
async function startRunner(): Promise<{ runner: ChildProcess; folder: string }> {
  const runner = spawn(process.execPath, killableRun(), { stdio: ['ignore', 'pipe', 'inherit'] });
  return { runner, folder: await firstLine(runner.stdout) };
}

/** Executables with the right names, in a folder. */
function programsThatDoNothing(): string {
  const folder = mkdtempSync(join(tmpdir(), 'programs-'));
  for (const name of PROGRAMS) writeFileSync(join(folder, name), '#!/bin/sh\nexec sleep infinity\n', { mode: 0o755 });
  return folder;
}

/** One whose starter does not look after what it leaves. */
function startKeeper(env: NodeJS.ProcessEnv) {
  return spawn(process.execPath, [KEEPER], { stdio: ['pipe', 'pipe', 'inherit'], env });
}

function ownerOf(folder: string): ProcessIdentity {
  const owner = listRuns().find((run) => run.folder === folder)?.owner;
  if (owner === undefined) throw new Error(`no process owns ${folder}`);
  return owner;
}

function gone(folder: string, keeper: ProcessIdentity): Promise<void> {
  return eventually(() => {
    expect([isRunning(keeper), markedProcesses(folder), existsSync(folder)]).toEqual([false, [], false]);
    return Promise.resolve();
  }, 30_000);
}

import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findBinaries } from '#test/cluster/binaries.ts';
import { ownTemporaryFolder } from '#test/cluster/own-temporary-folder.ts';
import { isRunning } from '#test/cluster/process-identity.ts';
import { listRuns, type Run } from '#test/cluster/run-folder.ts';
import { markedProcesses } from '#test/cluster/run-processes.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const UP_WITHIN_MS = 180_000;

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function command(name: string, env: NodeJS.ProcessEnv = {}): Said {
  return spawnSync(process.execPath, [MAIN, name], { encoding: 'utf8', env: { ...process.env, ...env } });
}

/** What the introduction says to type, in order. */
function thingsToTry(introduction: string): readonly string[] {
  return introduction.split('\n').flatMap((line) => /^ {2,4}((?:export|kubectl|for) .*)$/.exec(line)?.slice(1) ?? []);
}

function onlyRun(): Run {
  const [run, ...more] = listRuns();
  if (run === undefined || more.length > 0) throw new Error('there should be exactly one run');
  return run;
}

function isOpen(address: string): Promise<boolean> {
  const { hostname, port } = new URL(address);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Who and what is left of a run. */
function leftOf({ owner, folder }: Run): readonly unknown[] {
  return [isRunning(owner), markedProcesses(folder), existsSync(folder)];
}

describe.skipIf(findBinaries(process.env).kind === 'missing')('a cluster to play with', () => {
  ownTemporaryFolder();

  test(
    'comes up, keeps what its introduction promises, and goes down',
    async () => {
      const { status, stdout: text, stderr } = command('up');
      expect([status, stderr]).toEqual([0, '']);
      const run = onlyRun();
      const [setUp = '', ...things] = thingsToTry(text);
      const said = things.map((thing) => spawnSync('sh', ['-c', `${setUp}; ${thing}`], { encoding: 'utf8' }));
      expect(said.map(({ status: code, stdout, stderr: complaint }) => [code, stdout, complaint])).toEqual([
        [0, 'standard 10000\n', ''],
        [1, '', expect.stringMatching(/admission webhook "priority\.plimsoll\.dev" denied the request: .*critical/)],
        [1, 'pod/job-1 created\npod/job-2 created\n', expect.stringMatching(/denied the request: quota `batch`/)],
        [0, expect.stringMatching(/\nbatch .* 2 +2 /), ''],
      ]);
      const again = command('up');
      expect([again.status, again.stdout]).toEqual([0, `already up\n${text}`]);
      const server = /https:\S+\d/.exec(text)?.[0] ?? '';
      expect([await isOpen(server), markedProcesses(run.folder)]).toEqual([
        true,
        expect.objectContaining({ length: 5 }),
      ]);
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect([leftOf(run), await isOpen(server)]).toEqual([[false, [], false], false]);
    },
    UP_WITHIN_MS,
  );

  test(
    'of one whose keeper was killed nothing is left after `cluster:down`',
    () => {
      expect(command('up')).toMatchObject({ status: 0, stderr: '' });
      const run = onlyRun();
      process.kill(run.owner.pid, 'SIGKILL');
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect(leftOf(run)).toEqual([false, [], false]);
    },
    UP_WITHIN_MS,
  );

  test('without one, down says so', () => {
    expect(command('down')).toMatchObject({ status: 0, stdout: 'not up: there is nothing to end\n', stderr: '' });
  });

  test('without the programs it says which are missing, and leaves nothing', () => {
    const said = command('up', { KUBEBUILDER_ASSETS: '/nowhere' });
    expect([said.status, said.stdout, said.stderr]).toEqual([
      1,
      '',
      'the cluster cannot start: no etcd, kube-apiserver, kube-controller-manager, kube-scheduler, kubectl in /nowhere\n',
    ]);
    expect(listRuns()).toEqual([]);
  });

  test('another word is answered with how to use it', () => {
    const { status, stdout, stderr } = command('sideways');
    expect([status, stdout, stderr]).toEqual([2, '', 'usage: npm run cluster:up, npm run cluster:down\n']);
  });
});

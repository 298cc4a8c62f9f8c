import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { findBinaries } from '#test/cluster/binaries.ts';
import { mounts } from '#test/cluster/mount-table.ts';
import { findNodePrograms } from '#test/cluster/node/node-programs.ts';
import { ownTemporaryFolder } from '#test/cluster/own-temporary-folder.ts';
import { isRunning } from '#test/cluster/process-identity.ts';
import { listRuns, type Run } from '#test/cluster/run-folder.ts';
import { markedProcesses } from '#test/cluster/run-processes.ts';

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const UP_WITHIN_MS = 300_000;

interface Said {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function command(words: string, env: NodeJS.ProcessEnv = {}): Said {
  return spawnSync(process.execPath, [MAIN, ...words.split(' ')], {
    encoding: 'utf8',
    env: { ...process.env, ...env },
  });
}

const WITH_NODE = {
  words: 'up',
  node: / node +real-node, this machine, with the agent on it in dry run\n/,
  also: [[0, expect.stringMatching(/\nreal-node +DryRun /), '']],
};

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

/** Whether the keeper is left of a run, and what else. */
function leftOf({ owner, folder }: Run): readonly unknown[] {
  const hierarchies = mounts().filter(({ type }) => type.startsWith('cgroup'));
  const cgroups = hierarchies.map(({ path }) => join(path, basename(folder)));
  return [isRunning(owner), ...markedProcesses(folder), ...[folder, ...cgroups].filter((path) => existsSync(path))];
}

describe.skipIf(findBinaries(process.env).kind === 'missing')('a cluster to play with', () => {
  ownTemporaryFolder();

  const flavours = [
    { words: 'up --no-node', node: / node +no node( \(.*\))?: pods are judged, stored, and stay Pending\n/, also: [] },
    ...(findNodePrograms(process.env).kind === 'missing' ? [] : [WITH_NODE]),
  ];
  test.each(flavours)(
    '$words: comes up, keeps what its introduction promises, and goes down',
    async ({ words, node, also }) => {
      const { status, stdout: text, stderr } = command(words);
      expect([status, stderr]).toEqual([0, '']);
      expect(text).toMatch(node);
      const run = onlyRun();
      const [setUp = '', ...things] = thingsToTry(text);
      const said = things.map((thing) => spawnSync('sh', ['-c', `${setUp}; ${thing}`], { encoding: 'utf8' }));
      expect(said.map(({ status: code, stdout, stderr: complaint }) => [code, stdout, complaint])).toEqual([
        [0, 'standard 10000\n', ''],
        [1, '', expect.stringMatching(/admission webhook "priority\.plimsoll\.dev" denied the request: .*critical/)],
        [1, 'pod/job-1 created\npod/job-2 created\n', expect.stringMatching(/denied the request: quota `batch`/)],
        [0, expect.stringMatching(/\nbatch .* 2 +2 /), ''],
        ...also,
      ]);
      const again = command('up');
      expect([again.status, again.stdout]).toEqual([0, `already up\n${text}`]);
      const server = /https:\S+\d/.exec(text)?.[0] ?? '';
      expect([await isOpen(server), markedProcesses(run.folder).length >= 5]).toEqual([true, true]);
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect([leftOf(run), await isOpen(server)]).toEqual([[false], false]);
    },
    UP_WITHIN_MS,
  );

  test(
    'of one whose keeper was killed nothing is left after `cluster:down`',
    () => {
      expect(command('up --no-node')).toMatchObject({ status: 0, stderr: '' });
      const run = onlyRun();
      process.kill(run.owner.pid, 'SIGKILL');
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect(leftOf(run)).toEqual([false]);
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
    expect([status, stdout, stderr]).toEqual([
      2,
      '',
      'usage: npm run cluster:up [-- --no-node], npm run cluster:down\n',
    ]);
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { mounts } from '#test/cluster/support/run/mount-table.ts';
import { findNodePrograms } from '#test/cluster/node/start/node-programs.ts';
import { whyNoOwnCluster } from '#test/cluster/support/control-plane/own-cluster.ts';
import { ownTemporaryFolder } from '#test/cluster/support/run/own-temporary-folder.ts';
import { isRunning } from '#test/cluster/support/run/process-identity.ts';
import { listRuns, type Run } from '#test/cluster/support/run/run-folder.ts';
import { markedProcesses } from '#test/cluster/support/run/run-processes.ts';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import { eventually } from '#test/build/waiting.ts';

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

/** As `command`, at the same time as others. */
async function commandAside(words: string): Promise<Said> {
  const child = spawn(process.execPath, [MAIN, ...words.split(' ')], { stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { status, stdout, stderr };
}

/** Node may keep compiled code next to them; the compile cache of the webhook's sources serves every run, and stays. */
function ourFiles(): readonly string[] {
  return readdirSync(tmpdir()).filter((name) => name.startsWith('plimsoll-') && name !== basename(COMPILE_CACHE));
}

/** Which of the two is said depends on who was how far. */
const BUSY =
  /^(the cluster did not start|cannot use the cluster): process \d+ is just starting or ending it; try again when that is done\n$/;

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

const why = whyNoOwnCluster(process.env);

describe.skipIf(why !== undefined)(`a cluster to play with${why ?? ''}`, () => {
  const temporary = ownTemporaryFolder();

  const flavours = [
    { words: 'up --no-node', node: / node +no node( \(.*\))?: pods are judged, stored, and stay Pending\n/, also: [] },
    ...(findNodePrograms(process.env).kind === 'missing' ? [] : [WITH_NODE]),
  ];
  test.each(flavours)(
    '$words: comes up, keeps what its introduction promises, and goes down',
    async ({ words, node, also }) => {
      const { status, stdout: told, stderr } = command(words);
      expect([status, stderr]).toEqual([0, '']);
      expect(told).toMatch(node);
      const run = onlyRun();
      const [setUp = '', ...things] = thingsToTry(told);
      const said = things.map((thing) => spawnSync('sh', ['-c', `${setUp}; ${thing}`], { encoding: 'utf8' }));
      expect(said.map(({ status: code, stdout, stderr: complaint }) => [code, stdout, complaint])).toEqual([
        [0, 'standard 10000\n', ''],
        [1, '', expect.stringMatching(/denied request: policy `teams` does not allow priority class `critical`/)],
        [
          1,
          'pod/job-1 created\npod/job-2 created\n',
          expect.stringMatching(/denied the request: exceeded quota: batch, /),
        ],
        [0, expect.stringMatching(/\nbatch .* 2 +2 /), ''],
        ...also,
      ]);
      const again = command('up');
      expect([again.status, again.stdout]).toEqual([0, `already up\n${told}`]);
      const server = /https:\S+\d/.exec(told)?.[0] ?? '';
      expect([await isOpen(server), markedProcesses(run.folder).length >= 5]).toEqual([true, true]);
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect([leftOf(run), await isOpen(server)]).toEqual([[false], false]);
    },
    UP_WITHIN_MS,
  );

  test(
    'two that start at the same time get one playground, and the second says so',
    async () => {
      const both = await Promise.all([commandAside('up --no-node'), commandAside('up --no-node')]);
      const [winner, loser] = both.toSorted((one, other) => Number(one.status) - Number(other.status));
      expect(winner).toMatchObject({ status: 0, stderr: '' });
      expect(loser).toEqual({ status: 1, stdout: '', stderr: expect.stringMatching(BUSY) as string });
      const { owner } = onlyRun();
      expect(loser?.stderr).toContain(`process ${owner.pid} is`);
      expect(command('down')).toMatchObject({ status: 0, stdout: 'ended; nothing is left of it\n' });
      expect([temporary.processes(), ourFiles()]).toEqual([[], []]);
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
      expect([leftOf(run), temporary.processes(), ourFiles()]).toEqual([[false], [], []]);
    },
    UP_WITHIN_MS,
  );

  test(
    'of one whose keeper is killed amid the start nothing is left, and that is said',
    async () => {
      const starting = commandAside('up --no-node');
      const run = await eventually(() => Promise.resolve(onlyRun()), UP_WITHIN_MS);
      process.kill(run.owner.pid, 'SIGKILL');
      expect(await starting).toEqual({
        status: 1,
        stdout: '',
        stderr: 'the cluster did not start: what would keep it ended without a word\n',
      });
      expect([leftOf(run), temporary.processes(), ourFiles()]).toEqual([[false], [], []]);
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

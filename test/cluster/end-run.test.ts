import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { uniqueName } from '#test/contract/harness.ts';
import { endRun, sweepDeadRuns } from './support/run/end-run.ts';
import { firstLine } from './support/first-line.ts';
import { markedEnvironment, registerLeftover } from './support/run/leftovers.ts';
import { mounts } from './support/run/mount-table.ts';
import { ownTemporaryFolder } from './support/run/own-temporary-folder.ts';
import { identityOf, isRunning, type ProcessIdentity } from './support/run/process-identity.ts';
import { listRuns, makeRunFolder } from './support/run/run-folder.ts';

const RUN_FOLDER = fileURLToPath(new URL('./support/run/run-folder.ts', import.meta.url));
const OWNER = `
  const { makeRunFolder } = await import(${JSON.stringify(RUN_FOLDER)});
  console.log(makeRunFolder('test'));
  setInterval(() => undefined, 1000);
`;

/** Those that a test leaves to themselves. */
const started: ProcessIdentity[] = [];
afterAll(() => {
  for (const identity of started) if (isRunning(identity)) process.kill(identity.pid, 'SIGKILL');
});

/** A process in the background, as one that was started in the background by another. */
function sleeper(env: NodeJS.ProcessEnv, argument = 'infinity'): ProcessIdentity {
  const child = spawn('sh', ['-c', 'sleep "$0" & wait', argument], { env, detached: true, stdio: 'ignore' });
  const identity = identityOf(child.pid ?? 0);
  if (identity === undefined) throw new Error('the process is not there');
  started.push(identity);
  return identity;
}

/** The folder of a run whose owner was killed. */
async function deadRun(): Promise<string> {
  const owner = spawn(process.execPath, ['--input-type=module', '-e', OWNER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const folder = await firstLine(owner.stdout);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  return folder;
}

describe.skipIf(!existsSync('/proc/self/stat'))('ending what a run left', () => {
  ownTemporaryFolder();

  test('a run whose owner was killed: its processes end, its folder is removed', async () => {
    const folder = await deadRun();
    const left = sleeper(markedEnvironment(folder));
    await sweepDeadRuns();
    expect([isRunning(left), existsSync(folder)]).toEqual([false, false]);
  });

  test('a run whose owner lives, and processes of no run, are left alone', async () => {
    const living = makeRunFolder('test');
    const dead = await deadRun();
    const others = [sleeper(markedEnvironment(living)), sleeper({ ...process.env, NOTE: dead })];
    await sweepDeadRuns();
    expect([others.map(isRunning), existsSync(living), existsSync(dead)]).toEqual([[true, true], true, false]);
    await endRun(living);
    expect(others.map(isRunning)).toEqual([false, true]);
  });

  test('a number that was given to another process is not the owner', () => {
    const folder = makeRunFolder('test');
    const later = folder.replace(/-(\d+-\w+-\w+)$/, '-1$1');
    mkdirSync(later);
    const owners = listRuns().filter((run) => [folder, later].includes(run.folder));
    expect(new Map(owners.map((run) => [run.folder, run.isOwnerRunning]))).toEqual(
      new Map([
        [folder, true],
        [later, false],
      ]),
    );
    for (const each of [folder, later]) rmSync(each, { recursive: true });
  });

  test('a run of another PID namespace is not judged', async () => {
    const folder = await deadRun();
    const foreign = folder.replace(/-(\w+-\w+)$/, '-1$1');
    renameSync(folder, foreign);
    await sweepDeadRuns();
    expect(existsSync(foreign)).toBe(true);
    rmSync(foreign, { recursive: true });
  });

  test('two may sweep at a time', async () => {
    const folder = await deadRun();
    sleeper(markedEnvironment(folder));
    await Promise.all([sweepDeadRuns(), sweepDeadRuns(), endRun(folder)]);
    expect(existsSync(folder)).toBe(false);
  });
});

const name = uniqueName('plimsoll-left');
const hierarchies = mounts().filter(({ type }) => type.startsWith('cgroup'));
const cgroups = hierarchies.map(({ path }) => join(path, name));

/** Mounting, namespaces and cgroups need more than a user, and sometimes more than root in a container. */
function mayDoAll(): boolean {
  if (process.getuid?.() !== 0 || hierarchies.length === 0) return false;
  const { status } = spawnSync('ip', ['netns', 'add', name]);
  if (status === 0) spawnSync('ip', ['netns', 'delete', name]);
  return status === 0;
}

describe.skipIf(!mayDoAll())('ending what a run left in the kernel', () => {
  ownTemporaryFolder();
  let folder: string;
  beforeAll(async () => {
    folder = await deadRun();
    registerLeftover(folder, { kind: 'networkNamespace', what: name });
    registerLeftover(folder, { kind: 'cgroup', what: name });
    registerLeftover(folder, { kind: 'cgroup', what: `${name}-never-made` });
    registerLeftover(folder, { kind: 'mount', what: `/mnt/${name}` });
  });

  test('mounts, network namespace, cgroups and the processes in them are gone after a sweep', async () => {
    const below = join(folder, 'a mount');
    const elsewhere = `/mnt/${name}`;
    for (const path of [below, elsewhere]) {
      mkdirSync(path);
      expect(spawnSync('mount', ['-t', 'tmpfs', 'none', path]).status).toBe(0);
    }
    const precious = makeRunFolder('test');
    writeFileSync(join(precious, 'file'), '');
    mkdirSync(join(below, 'inner'));
    expect(spawnSync('mount', ['--bind', precious, join(below, 'inner')]).status).toBe(0);
    expect(spawnSync('ip', ['netns', 'add', name]).status).toBe(0);
    for (const path of cgroups) mkdirSync(join(path, 'pod'), { recursive: true });
    const contained = sleeper(process.env);
    const enter = `for each in "$@"; do echo ${contained.pid} >"$each/pod/cgroup.procs"; done`;
    const [memory = ''] = cgroups.filter((path) => path.includes('memory') || hierarchies.length === 1);
    expect(spawnSync('sh', ['-c', enter, 'sh', memory]).status).toBe(0);

    await sweepDeadRuns();
    rmSync(elsewhere, { recursive: true });
    const mounted = mounts().filter(({ path }) => path.includes(folder) || path.includes(name));
    expect({
      mounted,
      namespace: existsSync(`/run/netns/${name}`),
      cgroups: cgroups.filter((path) => existsSync(path)),
      contained: isRunning(contained),
      folder: existsSync(folder),
      precious: readdirSync(precious),
    }).toEqual({ mounted: [], namespace: false, cgroups: [], contained: false, folder: false, precious: ['file'] });
    rmSync(precious, { recursive: true });
  });

  test.each(['', '.', '/', '..', 'a/../..', '/kubepods'])('the cgroup "%s" is refused', async (what) => {
    const own = makeRunFolder('test');
    registerLeftover(own, { kind: 'cgroup', what });
    await expect(endRun(own)).rejects.toThrow('not a cgroup below the root');
    rmSync(own, { recursive: true });
  });
});

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach } from 'vitest';
import { type CgroupLayout, findCgroupLayout } from '#agent/observe/cgroup/cgroup-layout.ts';
import { createPodGroups, type Driver, type PodGroups, whyNoPodGroups } from './pod-groups.ts';

/** Pod groups of this machine with real processes in them. */
export interface RealPods extends PodGroups {
  readonly layout: CgroupLayout;
  /** Starts a command in a pod's group; not even its first page is charged elsewhere. */
  readonly start: (uid: string, command: readonly string[]) => ChildProcess;
}

const HOG = new URL('hog.ts', import.meta.url).pathname;
const MIB = 1024 * 1024;
const COUNT = 3;

/** The command line of a process that fills memory at a steady rate and then holds it. */
export function hog(mebibytes: number, mebibytesPerSecond: number): readonly string[] {
  return [process.execPath, HOG, String(mebibytesPerSecond * MIB), String(mebibytes * MIB)];
}

/** Why such tests are not run here; where CI promised a machine that can do it they are run, and fail. */
export function whyNoRealPods(): string | undefined {
  return process.env['CI'] === undefined ? whyNoPodGroups() : undefined;
}

/** Registers hooks of the present `describe` that make fresh groups for each test and remove them after it. */
export function realPods(driver: Driver): () => RealPods {
  let pods: RealPods | undefined;
  let children: ChildProcess[] = [];

  function start(uid: string, [program = '', ...args]: readonly string[]): ChildProcess {
    const script = 'read go; exec "$0" "$@"';
    const child = spawn('sh', ['-c', script, program, ...args], { stdio: ['pipe', 'ignore', 'ignore'] });
    children.push(child);
    pods?.join(uid, child.pid ?? 0);
    child.stdin.end('go\n');
    return child;
  }
  beforeEach(() => {
    const groups = createPodGroups(COUNT, driver);
    const found = findCgroupLayout('/sys/fs/cgroup', groups.kubepods);
    if (found.kind === 'unknown') throw new Error(found.because);
    pods = { ...groups, layout: found.layout, start };
  });
  afterEach(async () => {
    await Promise.all(children.map(end));
    children = [];
    pods?.remove();
    pods = undefined;
  });
  return () => {
    if (pods === undefined) throw new Error('the groups are not there');
    return pods;
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
}

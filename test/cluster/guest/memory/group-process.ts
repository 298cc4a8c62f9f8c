import { type ChildProcess, spawn } from 'node:child_process';
import type { PodGroups } from '#test/agent/pod-groups.ts';
import { isLostToEmulation } from '#test/cluster/guest/run/start-qemu.ts';
import { type GuestMemory, leastUntil, type Left } from './guest-memory.ts';

const MIB = 1024 * 1024;
const HOG = new URL('../../../agent/hog.ts', import.meta.url).pathname;

/** The command line of a process that fills memory at a steady rate and then holds it. */
export function hog(mebibytes: number, mebibytesPerSecond: number): readonly string[] {
  return [process.execPath, HOG, String(mebibytesPerSecond * MIB), String(mebibytes * MIB)];
}

/** Starts a command in a pod's group. It waits to be moved, so that not even its first page is charged elsewhere. */
export function startInGroup(groups: PodGroups, uid: string, [program = '', ...args]: readonly string[]): ChildProcess {
  const script = 'ulimit -n 20000; read go; exec "$0" "$@"';
  const child = spawn('sh', ['-c', script, program, ...args], { stdio: ['pipe', 'ignore', 'inherit'], detached: true });
  groups.join(uid, child.pid ?? 0);
  child.stdin.end('go\n');
  return child;
}

/** Whether a process has ended, by itself or by a signal. */
export function hasEnded({ exitCode, signalCode }: ChildProcess): boolean {
  return exitCode !== null || signalCode !== null;
}

const MAX_STARTS = 3;

/** Watches the memory while a process runs, of one that is lost to the emulation until another one in its place ends. */
export async function leastWhileItRuns(
  memory: Pick<GuestMemory, 'left'>,
  start: () => ChildProcess,
  mostMs: number,
): Promise<Left> {
  for (let starts = 1; ; starts += 1) {
    const child = start();
    const least = await leastUntil(memory, () => hasEnded(child), mostMs);
    if (!isLostToEmulation(child.signalCode ?? '') || starts === MAX_STARTS) return least;
    console.error(`${child.spawnargs.join(' ')} is started again after ${child.signalCode}`);
  }
}

/** Ends a process of `startInGroup` with everything that it started. */
export function endWithChildren(child: ChildProcess): void {
  if (child.pid !== undefined && !hasEnded(child)) process.kill(-child.pid, 'SIGKILL');
}

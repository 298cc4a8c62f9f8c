import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { stillAlive } from '#test/build/process-tree.ts';
import { untilAnswer } from '#test/build/waiting.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A started sandbox with its own directory for temporary files. */
interface Run {
  readonly process: ChildProcess;
  readonly pid: number;
  readonly temporary: string;
  output(): string;
  readonly exitCode: Promise<number | null>;
}

const runs: Run[] = [];

/** Ends those that are left, after the tests of a file. */
export function endRuns(): void {
  for (const run of runs.splice(0)) {
    for (const pid of stillAlive([run.pid])) process.kill(-pid, 'SIGKILL');
    rmSync(run.temporary, { recursive: true, force: true });
  }
}

/** Starts a command at the root of the repository. */
export function start(command: string, ...args: readonly string[]): Run {
  const temporary = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const child = spawn(command, args, { cwd: ROOT, detached: true, env: { ...process.env, TMPDIR: temporary } });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const exitCode = new Promise<number | null>((resolve) => child.once('close', resolve));
  const run = { process: child, pid: child.pid ?? 0, temporary, output: () => output, exitCode };
  runs.push(run);
  return run;
}

export function startMain(...args: readonly string[]): Run {
  return start(process.execPath, 'sandbox/main.ts', ...args);
}

/** What the sandbox keeps in the directory; npm has files of its own there. */
export function filesOf(run: Run): readonly string[] {
  return readdirSync(run.temporary).filter((name) => name.startsWith('plimsoll-'));
}

/** Waits until it has said how to reach it. */
export async function untilIntroduced(run: Run): Promise<void> {
  await untilAnswer(
    () => Promise.resolve(run.output()),
    (text) => text.includes('Ctrl-C ends everything.'),
  );
}

interface Result {
  readonly refused: readonly { readonly pod: string; readonly reason: string }[];
  readonly preempted: readonly { readonly pod: string; readonly madeRoomFor: string; readonly because: string }[];
  readonly spared: readonly string[];
  readonly evicted: readonly { readonly pod: string; readonly because: string }[];
  readonly survived: readonly string[];
  readonly secondsToEvict: number | null;
}

/** Runs the scenario once; nothing of it may stay. */
export async function playOnce(
  ...args: readonly string[]
): Promise<{ readonly exitCode: number | null; readonly result: Result }> {
  const run = startMain('--once', ...args);
  const exitCode = await run.exitCode;
  const last = run.output().trimEnd().split('\n').at(-1) ?? '';
  expect(filesOf(run)).toEqual([]);
  return { exitCode, result: JSON.parse(last) as Result };
}

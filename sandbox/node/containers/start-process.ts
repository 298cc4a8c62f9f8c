import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { SMALL_HEAP } from '#sandbox/node/processes/process-source.ts';
import type { ContainerParameters } from './container-plan.ts';

/** How a container's process ended. */
export interface ProcessEnd {
  readonly exitCode: number;
  readonly signal: NodeJS.Signals | null;
}

/** A demo container's process. */
export interface DemoProcess {
  readonly pid: number;
  readonly ended: Promise<ProcessEnd>;
  kill(signal: 'SIGTERM' | 'SIGKILL'): void;
}

/** Starts one; rejects when the machine cannot (no processes or memory left). */
export type StartProcess = (parameters: ContainerParameters, onOutput: (text: string) => void) => Promise<DemoProcess>;

const RUNTIME = fileURLToPath(new URL('./image-runtime.mjs', import.meta.url));
/** As a shell reports the end by a signal: 128 + its number. */
const SIGNAL_EXIT_CODES: Readonly<Partial<Record<NodeJS.Signals, number>>> = { SIGKILL: 137, SIGTERM: 143 };

/**
 * A real process of this Node binary with an empty environment. It ends with its standard input, so nothing outlives
 * the sandbox even if that is killed.
 */
export async function startProcess(
  parameters: ContainerParameters,
  onOutput: (text: string) => void,
): Promise<DemoProcess> {
  const child = spawn(process.execPath, [...SMALL_HEAP, RUNTIME, JSON.stringify(parameters)], {
    env: {},
    cwd: '/',
    stdio: ['pipe', 'pipe', 'pipe'],
    // Ctrl-C in the terminal is for the sandbox, which then ends its pods.
    detached: true,
    // On Windows a detached process would open a console of its own.
    windowsHide: true,
  });
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  child.once('close', (code, signal) => resolve({ exitCode: exitCodeOf(code, signal), signal }));
  // Nothing is written to it; a closed pipe must not become an unhandled error.
  child.stdin.on('error', () => undefined);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', onOutput);
  const pid = await pidOf(child);
  await volunteerForTheOomKiller(pid);
  return { pid, ended, kill: (signal) => void child.kill(signal) };
}

function pidOf(child: ReturnType<typeof spawn>): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(child.pid ?? 0));
  });
}

/** If the machine itself runs out of memory, the kernel should kill a demo pod, not the user's programs. */
async function volunteerForTheOomKiller(pid: number): Promise<void> {
  // Only Linux has the file. The process may have ended already, or the file may be read-only in a container.
  await writeFile(`/proc/${pid}/oom_score_adj`, '1000').catch(() => undefined);
}

function exitCodeOf(code: number | null, signal: NodeJS.Signals | null): number {
  return code ?? (signal === null ? 1 : (SIGNAL_EXIT_CODES[signal] ?? 1));
}

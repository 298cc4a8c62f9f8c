import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import { cpuMsOf, mainThreadMsOf, peakMiBOf, residentMiBOf } from './process-figures.ts';

/** A server under measurement, in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  readonly pid: number;
  /** CPU used so far, in milliseconds. */
  cpuMs(): number;
  /** The same of the main thread alone, to the nanosecond. */
  mainThreadMs(): number;
  residentMiB(): number;
  /** The most that was ever resident. */
  peakMiB(): number;
  /** What it holds after garbage was collected: heap and buffers. */
  retainedMiB(): Promise<number>;
  /** Resolves with the exit code. */
  stop(): Promise<number | null>;
}

const REPORT_RETAINED_MEMORY = new URL('report-retained-memory.mjs', import.meta.url).href;

/** How a server is started: `node NODE_FLAGS FILE ARGS`. */
export interface ServerCommand {
  readonly nodeFlags: readonly string[];
  readonly file: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Fills the compile cache for a command, as the image build does. */
export function warmCompileCache({ nodeFlags, file }: Pick<ServerCommand, 'nodeFlags' | 'file'>): void {
  const env = { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE };
  spawnSync(process.execPath, [...nodeFlags, file, '--help'], { env, stdio: 'ignore' });
}

/** Starts a server and waits for the line of JSON with its port. */
export async function startServer({ nodeFlags, file, args, env }: ServerCommand): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...nodeFlags, '--import', REPORT_RETAINED_MEMORY, file, ...args], {
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILE_CACHE, ...env },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const port = await portOf(child);
  const pid = child.pid ?? 0;
  return {
    port,
    pid,
    cpuMs: () => cpuMsOf(pid),
    mainThreadMs: () => mainThreadMsOf(pid),
    residentMiB: () => residentMiBOf(pid),
    peakMiB: () => peakMiBOf(pid),
    retainedMiB: () =>
      new Promise((resolve) => {
        child.once('message', (bytes) => resolve(Number(bytes) / 2 ** 20));
        child.send('retained');
      }),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', resolve);
        child.kill('SIGTERM');
      }),
  };
}

async function portOf(child: ChildProcess): Promise<number> {
  if (child.stdout === null) throw new Error('no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { port, reason } = JSON.parse(line) as { port?: number; reason?: string };
    if (reason !== undefined) throw new Error(reason);
    if (port === undefined) continue;
    child.stdout.resume();
    return port;
  }
  throw new Error('the server ended without telling its port');
}

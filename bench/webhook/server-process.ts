import { spawn, type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

/** A server under measurement, in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  /** CPU used so far, in milliseconds. */
  cpuMs(): number;
  residentMiB(): number;
  stop(): Promise<void>;
}

const TICK_MS = 10;

/** Starts `node FILE ARGS` and waits for the line of JSON that tells its port. */
export async function startServer(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [file, ...args], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const port = await portOf(child);
  const pid = child.pid ?? 0;
  return {
    port,
    cpuMs: () => cpuMsOf(pid),
    residentMiB: () => residentMiBOf(pid),
    stop: () =>
      new Promise((resolve) => {
        child.once('exit', () => resolve());
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

function cpuMsOf(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}

function residentMiBOf(pid: number): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Math.round(Number(kib) / 102.4) / 10;
}

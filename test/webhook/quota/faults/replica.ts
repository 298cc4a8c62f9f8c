import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '#sandbox/compile-cache.ts';
import { eventually } from '#test/build/waiting.ts';

/** One webhook process. */
export interface Replica {
  /** Where it answers, once it is ready; undefined when it ended before. */
  readonly ready: Promise<number | undefined>;
  /** SIGKILL; resolves when the process is gone. */
  kill(): Promise<void>;
}

interface Ports {
  readonly port: number;
  readonly healthPort: number;
}

const ROOT = fileURLToPath(new URL('../../../../', import.meta.url));
const PRELOAD = new URL('../../../../sandbox/end-with-parent.mjs', import.meta.url).href;
/** Ends with the child; `ReplicaSet` has the deadline that counts. */
const READY_WITHIN_MS = 600_000;

/** Starts the webhook as it is shipped; it ends with us, however we end. */
export function startReplica(flags: readonly string[], environment: Readonly<Record<string, string>>): Replica {
  const child = spawn(process.execPath, ['--import', PRELOAD, 'webhook/main.ts', ...flags], {
    cwd: ROOT,
    env: { ...environment, NODE_COMPILE_CACHE: COMPILE_CACHE, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit');
  return {
    ready: untilReady(child),
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

async function untilReady(child: ChildProcess): Promise<number | undefined> {
  const ports = await portsOf(child);
  if (ports === undefined) return undefined;
  return eventually(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return undefined;
    if (!(await isReady(ports.healthPort))) throw new Error('the webhook does not become ready');
    return ports.port;
  }, READY_WITHIN_MS);
}

async function portsOf({ stdout }: ChildProcess): Promise<Ports | undefined> {
  if (stdout === null) throw new Error('the webhook has no standard output');
  for await (const line of createInterface({ input: stdout })) {
    const { port, healthPort } = JSON.parse(line) as Partial<Ports>;
    if (port === undefined || healthPort === undefined) continue;
    stdout.resume();
    return { port, healthPort };
  }
  return undefined;
}

/** False also for one that is about to be killed. */
async function isReady(healthPort: number): Promise<boolean> {
  try {
    return (await fetch(`http://127.0.0.1:${healthPort}/readyz`)).ok;
  } catch {
    return false;
  }
}

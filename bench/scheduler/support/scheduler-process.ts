import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import { waitUntil } from '#test/cluster/support/wait-until.ts';

/** As in the manifests. */
export const V8_FLAGS = ['--no-maglev', '--max-semi-space-size=4', '--max-old-space-size=288'];
const MAIN = fileURLToPath(new URL('../../../scheduler/main.ts', import.meta.url));
const FLAGS = ['--host=127.0.0.1', '--port=0', '--health-host=127.0.0.1', '--health-port=0', '--drain-seconds=0'];

/** A started scheduler process, with its compiled code as in the image. */
export interface SchedulerProcess {
  readonly child: ChildProcess;
  /** Monotonic, in milliseconds. */
  readonly startedAt: number;
  /** All that it has printed. */
  readonly said: () => string;
  /** A figure of /proc/PID/status in MiB. */
  readonly memoryMib: (key: 'VmRSS' | 'VmHWM') => number;
  /** A port that it has logged at its start. */
  readonly portOf: (name: 'port' | 'healthPort' | 'dashboardPort') => number;
  readonly stop: () => void;
}

/** Starts it against an API server; resolves when it has logged its ports. */
export async function startSchedulerProcess(
  url: string,
  flags: readonly string[] = [],
  nodeFlags: readonly string[] = [],
): Promise<SchedulerProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-bench-'));
  for (const file of ['token', 'ca']) writeFileSync(join(folder, file), 'bench');
  const files = { PLIMSOLL_TOKEN_FILE: join(folder, 'token'), PLIMSOLL_CA_FILE: join(folder, 'ca') };
  const env = { ...process.env, PLIMSOLL_SERVER: url, NODE_COMPILE_CACHE: COMPILE_CACHE, ...files };
  // Fills the cache of compiled code.
  spawnSync(process.execPath, [...V8_FLAGS, MAIN, '--help'], { env });
  const startedAt = performance.now();
  const child = spawn(process.execPath, [...V8_FLAGS, ...nodeFlags, MAIN, ...FLAGS, ...flags], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
  await waitUntil(() => Promise.resolve(said.includes('healthPort')), { what: 'its start', components: [] });
  return {
    child,
    startedAt,
    said: () => said,
    memoryMib: (key) => memoryMib(child.pid ?? 0, key),
    portOf: (name) => Number(new RegExp(`"${name}":(\\d+)`).exec(said)?.[1]),
    stop: () => {
      child.kill('SIGTERM');
      rmSync(folder, { recursive: true });
    },
  };
}

/** Waits until it has read the cluster. */
export async function untilReady({ portOf }: SchedulerProcess): Promise<void> {
  const isReady = async (): Promise<boolean> => (await fetch(`http://127.0.0.1:${portOf('healthPort')}/readyz`)).ok;
  await waitUntil(isReady, { what: 'the scheduler process to be ready', components: [] });
}

function memoryMib(pid: number, key: 'VmRSS' | 'VmHWM'): number {
  const [, kib] = new RegExp(`${key}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Math.round(Number(kib) / 102.4) / 10;
}

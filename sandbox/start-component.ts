import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Clock } from '#shared/runtime/clock.ts';
import { COMPILE_CACHE } from './compile-cache.ts';

/** A part of Plimsoll that runs as its own process. */
export interface ComponentProcess {
  readonly pid: number;
  /** How it ended, in words. */
  readonly ended: Promise<string>;
  /** The most informative line about its end; `undefined` if it wrote nothing. */
  readonly lastWords: () => string | undefined;
  /** SIGTERM, and SIGKILL for one that hangs. */
  stop(): Promise<void>;
}

export interface ComponentOptions {
  /** Path of its main, relative to the repository. */
  readonly main: string;
  readonly flags: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly clock: Clock;
  /** Gets each line that it writes. */
  readonly onLine?: (line: string) => void;
}

const STOP_MS = 2_000;
const KEPT_LINES = 20;
const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PRELOAD = new URL('./end-with-parent.mjs', import.meta.url).href;

/** Starts it; rejects if no process can be started. It ends with the sandbox even if that is killed. */
export async function startComponent(options: ComponentOptions): Promise<ComponentProcess> {
  const { clock } = options;
  const child = spawn(process.execPath, ['--import', PRELOAD, options.main, ...options.flags], {
    cwd: ROOT,
    env: { ...options.environment, NODE_COMPILE_CACHE: COMPILE_CACHE, PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    // Not in the terminal's foreground group: Ctrl-C reaches only the sandbox, which then ends its parts in order.
    detached: true,
    windowsHide: true,
  });
  const lines: string[] = [];
  const keep = (line: string): void => {
    lines.push(line);
    lines.splice(0, lines.length - KEPT_LINES);
    options.onLine?.(line);
  };
  for (const input of [child.stdout, child.stderr]) if (input !== null) createInterface({ input }).on('line', keep);
  const { promise: ended, resolve } = Promise.withResolvers<string>();
  child.once('close', (code, signal) => resolve(signal === null ? `exit code ${code ?? 0}` : signal));
  await new Promise<void>((started, failed) => child.once('spawn', started).once('error', failed));

  async function stop(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGTERM');
    const inTime = new AbortController();
    const late = clock.sleep(STOP_MS, inTime.signal).then(() => child.kill('SIGKILL'));
    await ended;
    inTime.abort();
    await late;
  }
  return { pid: child.pid ?? 0, ended, lastWords: () => lastWords(lines), stop };
}

/** The last line of a crash is the version of Node; the error is some lines above. */
export function lastWords(lines: readonly string[]): string | undefined {
  return lines.findLast((line) => /error|could not/i.test(line)) ?? lines.at(-1);
}

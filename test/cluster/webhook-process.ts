import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { eventually } from '#test/contract/harness.ts';
import { markedEnvironment } from './leftovers.ts';

/** The webhook as it is shipped: a process of its own. */
export interface WebhookProcess {
  /** Where it answers admission requests. */
  readonly port: number;
  /** What Prometheus would read. */
  metrics(): Promise<string>;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
  /** SIGKILL; what it registered stays behind. */
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));
const ON_LOOPBACK = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0, drainSeconds: 0 };

/**
 * Starts the webhook on loopback, on a free port unless set, and waits until it is ready: trusted, caches full. It ends
 * with the run that the kubeconfig belongs to.
 */
export async function startWebhookProcess(kubeconfig: string, settings: object): Promise<WebhookProcess> {
  const flags = flagsOf({ ...ON_LOOPBACK, kubeconfig, ...settings });
  const env = markedEnvironment(dirname(kubeconfig));
  const child = spawn(process.execPath, [MAIN, ...flags], { stdio: ['ignore', 'pipe', 'inherit'], env });
  const exit = once(child, 'exit');
  const { port, healthPort } = await startedPorts(child);
  const health = `http://127.0.0.1:${healthPort}`;
  await eventually(async () => {
    const answer = await fetch(`${health}/readyz?verbose`);
    if (answer.status !== 200) throw new Error(`the webhook is not ready:\n${await answer.text()}`);
  }, 30_000);

  async function end(signal: NodeJS.Signals): Promise<void> {
    child.kill(signal);
    await exit;
  }
  return {
    port,
    metrics: async () => (await fetch(`${health}/metrics`)).text(),
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  };
}

/** `{tls: {secretName: 'x'}}` as `--tls-secret-name=x`. */
function flagsOf(settings: object, prefix = '--'): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    const name = `${prefix}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof value === 'object' && value !== null ? flagsOf(value, `${name}-`) : [`${name}=${String(value)}`];
  });
}

/** Where it listens, as its log says. */
async function startedPorts(child: ChildProcess): Promise<{ readonly port: number; readonly healthPort: number }> {
  if (child.stdout === null) throw new Error('the webhook has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { port, healthPort, reason } = JSON.parse(line) as { port?: number; healthPort?: number; reason?: string };
    if (port !== undefined && healthPort !== undefined) {
      child.stdout.resume();
      return { port, healthPort };
    }
    if (reason !== undefined) throw new Error(`the webhook did not start: ${reason}`);
  }
  throw new Error('the webhook ended without a word');
}

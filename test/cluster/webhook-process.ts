import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { stringify } from 'yaml';
import { eventually } from '#test/contract/harness.ts';

/** The webhook as it is shipped: a process of its own, registered with the cluster under test. */
export interface WebhookProcess {
  /** Where it answers admission requests. */
  readonly port: number;
  readonly healthPort: number;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL: the registration stays behind. */
  kill(): Promise<void>;
}

const MAIN = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));

/** Settings of a webhook that writes its registration itself, with the port that it took. */
export function registeringItself(failurePolicy: 'Ignore' | 'Fail'): object {
  return { registration: { mode: 'Full', url: 'https://127.0.0.1:0', failurePolicy } };
}

/** Starts the webhook on loopback, on a free port unless set, and waits until it is ready: registered, caches full. */
export async function startWebhookProcess(kubeconfig: string, settings: object): Promise<WebhookProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-webhook-'));
  const file = join(folder, 'webhook.yaml');
  const configuration = {
    apiVersion: 'config.plimsoll.dev/v1alpha1',
    kind: 'WebhookConfiguration',
    kubeconfig,
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    drainSeconds: 0,
    ...settings,
  };
  writeFileSync(file, stringify(configuration));
  const child = spawn(process.execPath, [MAIN, '--config', file], { stdio: ['ignore', 'pipe', 'inherit'] });
  const exit = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const { port, healthPort } = await startedPorts(child);
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${healthPort}/readyz?verbose`);
    if (answer.status !== 200) throw new Error(`the webhook is not ready:\n${await answer.text()}`);
  }, 20_000);

  async function end(signal: NodeJS.Signals): Promise<number | null> {
    child.kill(signal);
    const code = await exit;
    rmSync(folder, { recursive: true, force: true });
    return code;
  }
  return {
    port,
    healthPort,
    stop: () => end('SIGTERM'),
    kill: async () => {
      await end('SIGKILL');
    },
  };
}

/** Its ports, as its log says them. */
async function startedPorts(child: ChildProcess): Promise<Pick<WebhookProcess, 'port' | 'healthPort'>> {
  if (child.stdout === null) throw new Error('the webhook has no standard output');
  for await (const line of createInterface({ input: child.stdout })) {
    const { port, healthPort, reason } = JSON.parse(line) as Partial<WebhookProcess> & { readonly reason?: string };
    if (port !== undefined && healthPort !== undefined) {
      child.stdout.resume();
      return { port, healthPort };
    }
    if (reason !== undefined) throw new Error(`the webhook did not start: ${reason}`);
  }
  throw new Error('the webhook ended without a word');
}

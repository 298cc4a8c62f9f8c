import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { component, type Component } from './component.ts';
import { markedEnvironment } from './leftovers.ts';
import { textOf } from './process-identity.ts';
import { waitUntil } from './wait-until.ts';

/** The webhook as it is shipped: a process of its own. */
export interface WebhookProcess {
  /** Where it answers admission requests. */
  readonly port: number;
  /** For those who watch whether it lives. */
  readonly component: Component;
  /** What Prometheus would read. */
  metrics(): Promise<string>;
  /** SIGTERM; resolves when it is gone. */
  stop(): Promise<void>;
  /** SIGKILL; what it registered stays behind. */
  kill(): Promise<void>;
}

/** Whose rights it has, and with which run (run-folder.ts) it ends; its log is written to that folder. */
export interface WebhookPlace {
  readonly folder: string;
  readonly kubeconfig: string;
}

const MAIN = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));
const ON_LOOPBACK = { host: '127.0.0.1', port: 0, healthHost: '127.0.0.1', healthPort: 0, drainSeconds: 0 };
/** What it says when it listens, as JSON or as text. */
const STARTED = /\bport\W+(?<port>\d+).*\bhealthPort\W+(?<healthPort>\d+)/;

/** Starts the webhook on loopback, on free ports unless set, and waits until it is ready: trusted, caches full. Rejects with its log when it ends before. */
export async function startWebhookProcess(
  { folder, kubeconfig }: WebhookPlace,
  settings: object,
): Promise<WebhookProcess> {
  const log = join(folder, `webhook-${randomUUID()}.log`);
  const flags = flagsOf({ ...ON_LOOPBACK, kubeconfig, ...settings });
  const webhook = component(process.execPath, [MAIN, ...flags], log, markedEnvironment(folder));
  const components = [['the webhook', webhook]] as const;
  webhook.start();
  const started = () => STARTED.exec(textOf(log))?.groups;
  await waitUntil(() => Promise.resolve(started() !== undefined), { what: 'the webhook to listen', components });
  const { port, healthPort } = started() ?? {};
  const health = `http://127.0.0.1:${healthPort}`;
  await waitUntil(() => answersOk(`${health}/readyz`), { what: 'the webhook to be ready', components });
  return {
    port: Number(port),
    component: webhook,
    metrics: async () => (await fetch(`${health}/metrics`)).text(),
    stop: () => webhook.stop('SIGTERM'),
    kill: () => webhook.stop('SIGKILL'),
  };
}

/** `{tls: {secretName: 'x'}}` as `--tls-secret-name=x`. */
function flagsOf(settings: object, prefix = '--'): readonly string[] {
  return Object.entries(settings).flatMap(([key, value]: [string, unknown]) => {
    const name = `${prefix}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return typeof value === 'object' && value !== null ? flagsOf(value, `${name}-`) : [`${name}=${String(value)}`];
  });
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

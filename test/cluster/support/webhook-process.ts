import { randomUUID } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { kubeconfigConnection } from '#shared/kube/client/kubeconfig-connection.ts';
import { hostPort } from '#shared/runtime/host-port.ts';
import { COMPILE_CACHE } from '#test/build/compile-cache.ts';
import { LOOPBACK } from '#test/build/loopback.ts';
import { warmCompileCache } from '#test/webhook/support/server-process.ts';
import { shippedNodeFlags } from '#test/webhook/support/shipped-webhook.ts';
import { component, type Component } from './control-plane/component.ts';
import { markedEnvironment } from './run/leftovers.ts';
import { textOf } from './run/process-identity.ts';
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
  /** Variables that its container has besides. */
  readonly env?: NodeJS.ProcessEnv;
}

const MAIN = fileURLToPath(new URL('../../../webhook/main.ts', import.meta.url));
const ON_LOOPBACK = { host: LOOPBACK, port: 0, healthHost: LOOPBACK, healthPort: 0, drainSeconds: 0 };
/** What it says when it listens, as JSON or as text. */
const STARTED = /\bport\W+(?<port>\d+).*\bhealthPort\W+(?<healthPort>\d+)/;

/**
 * Starts the webhook on loopback, with the V8 flags and the compiled code of its image, on free ports unless set, and
 * waits until it is ready: trusted, caches full. Rejects with its log when it ends before.
 */
export async function startWebhookProcess(place: WebhookPlace, settings: object): Promise<WebhookProcess> {
  const { folder } = place;
  const log = join(folder, `webhook-${randomUUID()}.log`);
  const main = { nodeFlags: shippedNodeFlags(), file: MAIN };
  warmCompileCache(main);
  const access = await accessOf(place);
  const flags = flagsOf({ ...ON_LOOPBACK, ...access.settings, ...settings });
  const env = { ...markedEnvironment(folder), NODE_COMPILE_CACHE: COMPILE_CACHE, ...place.env, ...access.env };
  const webhook = component(process.execPath, [...main.nodeFlags, MAIN, ...flags], log, env);
  const components = [['the webhook', webhook]] as const;
  webhook.start();
  const started = () => STARTED.exec(textOf(log))?.groups;
  await waitUntil(() => Promise.resolve(started() !== undefined), { what: 'the webhook to listen', components });
  const { port, healthPort } = started() ?? {};
  const health = `http://${hostPort(LOOPBACK, healthPort ?? '')}`;
  await waitUntil(() => answersOk(`${health}/readyz`), { what: 'the webhook to be ready', components });
  return {
    port: Number(port),
    component: webhook,
    metrics: async () => (await fetch(`${health}/metrics`)).text(),
    stop: () => webhook.stop('SIGTERM'),
    kill: () => webhook.stop('SIGKILL'),
  };
}

/** By token where there is one, as in a pod: a kubeconfig loads the client library, and with it 75 MiB. */
async function accessOf({ folder, kubeconfig }: WebhookPlace): Promise<{ settings: object; env: NodeJS.ProcessEnv }> {
  const { server, ca, token, clientCertificate } = await kubeconfigConnection(kubeconfig);
  const bearer = clientCertificate === undefined ? await token?.() : undefined;
  if (bearer === undefined || bearer === '' || ca === undefined) return { settings: { kubeconfig }, env: {} };
  const own = mkdtempSync(join(folder, 'webhook-'));
  const [tokenFile, caFile] = [join(own, 'token'), join(own, 'ca.pem')];
  writeFileSync(tokenFile, bearer, { mode: 0o600 });
  writeFileSync(caFile, ca);
  return {
    settings: {},
    env: { PLIMSOLL_SERVER: server, PLIMSOLL_TOKEN_FILE: tokenFile, PLIMSOLL_CA_FILE: caFile },
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

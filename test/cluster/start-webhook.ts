import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { KubeClient } from '#shared/kube/client.ts';
import type { ClusterConnection } from '#shared/kube/connection.ts';
import { accountToken, WEBHOOK, writeKubeconfig } from './accounts.ts';
import { component, type Component } from './component.ts';
import { freePorts } from './free-ports.ts';
import { markedEnvironment } from './leftovers.ts';
import { waitUntil } from './wait-until.ts';
import { registerFully } from '#webhook/register.ts';

const MAIN = fileURLToPath(new URL('../../webhook/main.ts', import.meta.url));
/** As long as the certificates of the control plane. */
const TOKEN_SECONDS = 7 * 24 * 3_600;

export interface WebhookOptions {
  readonly folder: string;
  /** An administrator, who registers it. */
  readonly client: KubeClient;
  readonly connection: ClusterConnection;
}

/** Starts the webhook with its own account's rights and waits until it is ready. Nothing carries traffic to its Service here, so it is registered by address. */
export async function startWebhook({ folder, client, connection }: WebhookOptions): Promise<Component> {
  const [port = 0, healthPort = 0] = await freePorts(2);
  const target = { kind: 'url', url: `https://127.0.0.1:${port}` } as const;
  await registerFully(client, { target, failurePolicy: 'Ignore', gatedCallers: [] });
  const kubeconfig = join(folder, 'webhook.kubeconfig');
  writeKubeconfig(kubeconfig, connection, await accountToken(client, WEBHOOK, undefined, TOKEN_SECONDS));
  const addresses = { host: '127.0.0.1', port, healthHost: '127.0.0.1', healthPort };
  const configuration = { apiVersion: 'config.plimsoll.dev/v1alpha1', kind: 'WebhookConfiguration' };
  const file = join(folder, 'webhook.json');
  writeFileSync(file, JSON.stringify({ ...configuration, ...addresses, kubeconfig, logFormat: 'text' }));
  const log = join(folder, 'webhook.log');
  const webhook = component(process.execPath, [MAIN, '--config', file], log, markedEnvironment(folder));
  webhook.start();
  const isReady = (): Promise<boolean> => answersOk(`http://127.0.0.1:${healthPort}/readyz`);
  await waitUntil(isReady, { what: 'the webhook', components: [['webhook', webhook]] });
  return webhook;
}

async function answersOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

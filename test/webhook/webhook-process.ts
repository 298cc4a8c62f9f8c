import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest, Agent } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { webhookSchema, type WebhookConfiguration } from '#webhook/configuration.ts';
import { startWebhook } from '#webhook/webhook.ts';
import { objectServer, type ObjectServer } from '#test/fakes/object-server.ts';
import { EventEmitter } from 'node:events';

export interface RunningWebhook {
  readonly api: ObjectServer;
  readonly port: number;
  readonly healthUrl: string;
  readonly logged: string[];
  post(
    path: string,
    body: string | Buffer,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: string }>;
  stop(): Promise<number>;
}

export const CLASSES = '/apis/scheduling.k8s.io/v1/priorityclasses';
export const NAMESPACES = '/api/v1/namespaces';
export const PODS = '/api/v1/pods';
export const QUOTAS = '/api/v1/resourcequotas';
export const POLICIES = '/apis/plimsoll.dev/v1alpha1/prioritypolicies';
export const PRIORITY_QUOTAS = '/apis/plimsoll.dev/v1alpha1/priorityquotas';

/** The webhook as its process builds it, on loopback, with an API server that holds what `prepare` puts there. */
export async function runWebhook(
  prepare: (api: ObjectServer) => void = () => undefined,
  settings: Partial<Record<keyof WebhookConfiguration, unknown>> = {},
): Promise<RunningWebhook> {
  const api = await objectServer();
  prepare(api);
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  writeFileSync(join(folder, 'token'), 'token');
  writeFileSync(join(folder, 'ca.pem'), '');
  const env = {
    PLIMSOLL_SERVER: api.url,
    PLIMSOLL_TOKEN_FILE: join(folder, 'token'),
    PLIMSOLL_CA_FILE: join(folder, 'ca.pem'),
  };
  const logged: string[] = [];
  const log = createLog({
    component: 'webhook',
    level: 'info',
    format: 'json',
    destination: { write: (line) => void logged.push(line) },
  });
  const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: 5_000, processSignals: new EventEmitter() });
  const configuration = webhookSchema.parse({
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    drainSeconds: 0,
    registration: { mode: 'Full', url: 'https://127.0.0.1:0' },
    ...settings,
  });
  const webhook = await startWebhook(configuration, { clock: systemClock, random: Math.random, log, env, shutdown });
  const healthUrl = `http://127.0.0.1:${webhook.healthPort}`;
  await untilReady(healthUrl);
  const ca = registeredAuthority(api);
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  return {
    api,
    port: webhook.port,
    healthUrl,
    logged,
    post: (path, body, headers = { 'Content-Type': 'application/json' }) =>
      new Promise((resolve, reject) => {
        const options = { host: '127.0.0.1', port: webhook.port, path, method: 'POST', headers, agent, ca };
        const request = httpsRequest(options, (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk: Buffer) => chunks.push(chunk));
          response.on('end', () =>
            resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
          );
        });
        request.on('error', reject).end(body);
      }),
    stop: async () => {
      agent.destroy();
      await shutdown.stop('test over');
      await api.close();
      rmSync(folder, { recursive: true });
      return shutdown.finished;
    },
  };
}

async function untilReady(healthUrl: string): Promise<void> {
  for (let attempt = 0; attempt < 200; attempt += 1) {
    if ((await fetch(`${healthUrl}/readyz`)).status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(await (await fetch(`${healthUrl}/readyz?verbose`)).text());
}

/** The authority under which the webhook registered itself: what an API server would trust. */
function registeredAuthority(api: ObjectServer): string {
  const configuration = api.get('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations', 'plimsoll');
  const [entry] = configuration?.['webhooks'] as { clientConfig: { caBundle: string } }[];
  return Buffer.from(entry?.clientConfig.caBundle ?? '', 'base64').toString();
}

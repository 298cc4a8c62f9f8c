import { EventEmitter } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createShutdown } from '#shared/runtime/shutdown.ts';
import { webhookSchema, type WebhookConfiguration } from '#webhook/configuration.ts';
import { startWebhook, type Webhook } from '#webhook/webhook.ts';
import { seededJitter } from '#test/fakes/jitter.ts';
import { eventually } from '#test/build/waiting.ts';

/** An API server, and the token with which the webhook speaks to it. */
export interface ServerAccess {
  readonly url: string;
  readonly token: string;
  readonly caPem: string;
}

export type Settings = Partial<Record<keyof WebhookConfiguration, unknown>>;

export interface InProcessWebhook extends Webhook {
  readonly healthUrl: string;
  /** Lines of its log. */
  readonly logged: string[];
  /** Resolves with the exit code. */
  stop(): Promise<number>;
}

/** The webhook as its process builds it, on loopback, registering itself; resolves when it is ready. */
export async function startInProcess(
  server: ServerAccess,
  settings: Settings = {},
  clock: Clock = systemClock,
): Promise<InProcessWebhook> {
  const folder = mkdtempSync(join(tmpdir(), 'plimsoll-test-'));
  const [tokenFile, caFile] = [join(folder, 'token'), join(folder, 'ca.pem')];
  writeFileSync(tokenFile, server.token);
  writeFileSync(caFile, server.caPem);
  const env = { PLIMSOLL_SERVER: server.url, PLIMSOLL_TOKEN_FILE: tokenFile, PLIMSOLL_CA_FILE: caFile };
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLog({ component: 'webhook', level: 'info', format: 'json', destination });
  const shutdown = createShutdown({ log, clock: systemClock, deadlineMs: 5_000, processSignals: new EventEmitter() });
  const configuration = webhookSchema.parse({ ...ON_LOOPBACK, ...settings });
  const webhook = await startWebhook(configuration, { clock, random: seededJitter(), log, env, shutdown });
  const healthUrl = `http://127.0.0.1:${webhook.healthPort}`;
  await untilReady(healthUrl);
  return {
    ...webhook,
    healthUrl,
    logged,
    stop: async () => {
      await shutdown.stop('test over');
      rmSync(folder, { recursive: true });
      return shutdown.finished;
    },
  };
}

const ON_LOOPBACK = {
  host: '127.0.0.1',
  port: 0,
  healthHost: '127.0.0.1',
  healthPort: 0,
  drainSeconds: 0,
  registration: { mode: 'Full', url: 'https://127.0.0.1:0' },
};

const READY_WITHIN_MS = 30_000;

async function untilReady(healthUrl: string): Promise<void> {
  await eventually(async () => {
    const answer = await fetch(`${healthUrl}/readyz?verbose`);
    if (!answer.ok) throw new Error(await answer.text());
  }, READY_WITHIN_MS);
}

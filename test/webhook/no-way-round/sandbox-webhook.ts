import { randomUUID } from 'node:crypto';
import { startApiServer } from '#sandbox/api-server/start-api-server.ts';
import { runControllers } from '#sandbox/controllers/run-controllers.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import type { ContractTarget } from '#test/contract/harness.ts';
import { startInProcess, type Settings } from '#test/webhook/support/in-process.ts';

export interface SandboxWebhook {
  readonly target: ContractTarget;
  /** Ends the webhook alone; its registration stays. */
  readonly stopWebhook: () => Promise<void>;
  readonly stop: () => Promise<void>;
}

const [WEBHOOK_ACCOUNT = ''] = OWN_ACCOUNTS;

/** The sandbox's API server and controllers with the webhook registered and ready; nothing runs pods. */
export async function startSandboxWebhook(settings: Settings = {}): Promise<SandboxWebhook> {
  const log = createLog({ component: 'sandbox', level: 'silent', format: 'json' });
  const token = randomUUID();
  const users = new Map([[token, { username: WEBHOOK_ACCOUNT, groups: ['system:authenticated'] }]]);
  const server = await startApiServer({ host: '127.0.0.1', port: 0, clock, log, users });
  const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
  const client = createClient(connection, { userAgent: 'controllers' });
  await installPlimsoll(client);
  const end = new AbortController();
  const controllers = runControllers({ client, clock, log }, end.signal);
  const webhook = await startInProcess({ url: server.url, token, caPem: server.caPem }, settings);
  let stopped: Promise<unknown> | undefined;
  const stopWebhook = async (): Promise<void> => {
    await (stopped ??= webhook.stop());
  };
  return {
    target: { kind: 'sandbox', connection },
    stopWebhook,
    stop: async () => {
      await stopWebhook();
      end.abort();
      await controllers;
      client.close();
      await server.close();
    },
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { runControllers } from '#sandbox/controllers/run-controllers.ts';
import { installPlimsoll } from '#sandbox/install-plimsoll.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock as clock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { endRun } from '#test/cluster/support/run/end-run.ts';
import { makeRunFolder } from '#test/cluster/support/run/run-folder.ts';
import { startWebhookProcess, type WebhookProcess } from '#test/cluster/support/webhook-process.ts';
import type { ContractTarget } from '#test/contract/harness.ts';
import type { Surface } from './stage.ts';

interface Running {
  readonly target: ContractTarget;
  readonly webhook: WebhookProcess;
  stop(): Promise<void>;
}

/** How the webhook reaches the API server of a kubeconfig, as a kubeconfig. */
export type ToApiServer = (kubeconfig: string) => Promise<string>;

const sameKubeconfig: ToApiServer = (kubeconfig) => Promise.resolve(kubeconfig);
const REGISTRATION = { mode: 'Full', url: 'https://127.0.0.1:0' };

/** Registers hooks of the present `describe` that start and end the sandbox's API server with its controllers and the webhook. */
export function sandboxSurface(toApiServer: ToApiServer = sameKubeconfig): Surface {
  const found: { running?: Running } = {};
  beforeAll(async () => {
    found.running = await start(toApiServer);
  });
  afterAll(() => found.running?.stop());
  const running = (): Running => {
    if (found.running === undefined) throw new Error('the sandbox is not up');
    return found.running;
  };
  return { target: () => running().target, webhook: () => running().webhook };
}

async function start(toApiServer: ToApiServer): Promise<Running> {
  const log = createLog({ component: 'sandbox', level: 'silent', format: 'json' });
  const server = await startApiServer({ host: '127.0.0.1', port: 0, clock, log });
  const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
  const client = createClient(connection, { userAgent: 'controllers' });
  await installPlimsoll(client);
  const end = new AbortController();
  const controllers = runControllers({ client, clock, log }, end.signal);
  const folder = makeRunFolder('adversary');
  const webhook = await startWebhook(server, folder, toApiServer);
  return {
    target: { kind: 'sandbox', connection },
    webhook,
    stop: async () => {
      await webhook.stop();
      end.abort();
      await controllers;
      client.close();
      await server.close();
      await endRun(folder);
    },
  };
}

async function startWebhook(server: ApiServer, folder: string, toApiServer: ToApiServer): Promise<WebhookProcess> {
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, server.kubeconfig(), { mode: 0o600 });
  return startWebhookProcess({ folder, kubeconfig: await toApiServer(kubeconfig) }, { registration: REGISTRATION });
}

import { afterAll, beforeAll, describe } from 'vitest';
import { runControllers } from '#sandbox/controllers/run-controllers.ts';
import { type ApiServer, startApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient, type KubeClient } from '#shared/kube/client.ts';
import { directConnection } from '#shared/kube/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { apiServerContract } from './api-server.ts';
import type { ContractTarget } from './harness.ts';

const log = createLog({ component: 'contract', level: 'silent', format: 'json' });

/** The sandbox's API server with its controllers, as `npm start` runs them. */
interface Sandbox {
  readonly server: ApiServer;
  readonly client: KubeClient;
  readonly stop: AbortController;
  readonly running: Promise<void>;
  readonly target: ContractTarget;
}

async function startSandbox(): Promise<Sandbox> {
  const server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
  const connection = directConnection({ server: server.url, token: server.token, ca: server.caPem });
  const client = createClient(connection, { userAgent: 'plimsoll-contract-controllers' });
  const stop = new AbortController();
  const running = runControllers({ client, clock: systemClock, log }, stop.signal);
  return { server, client, stop, running, target: { kind: 'sandbox', connection } };
}

describe('the API server of the sandbox', () => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await startSandbox();
  });
  afterAll(async () => {
    sandbox.stop.abort();
    await sandbox.running;
    sandbox.client.close();
    await sandbox.server.close();
  });
  apiServerContract(() => sandbox.target);
});

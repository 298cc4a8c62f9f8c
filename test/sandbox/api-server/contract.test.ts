import { afterAll, beforeAll, describe } from 'vitest';
import { runControllers } from '#sandbox/controllers/run-controllers.ts';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient } from '#shared/kube/client.ts';
import { directConnection } from '#shared/kube/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { apiServerContract } from '#test/contract/api-server.ts';
import type { ContractTarget } from '#test/contract/harness.ts';

describe('the sandbox API server', () => {
  let server: ApiServer;
  let target: ContractTarget;
  let running: Promise<void>;
  const stop = new AbortController();

  beforeAll(async () => {
    const log = createLog({ component: 'sandbox', level: 'silent', format: 'json' });
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
    const { url, token, caPem } = server;
    const client = createClient(directConnection({ server: url, token, ca: caPem }), { userAgent: 'controllers' });
    running = runControllers({ client, clock: systemClock, log }, stop.signal).finally(() => client.close());
    target = { kind: 'sandbox', connection: directConnection({ server: url, token, ca: caPem }) };
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await server.close();
  });

  apiServerContract(() => target);
});

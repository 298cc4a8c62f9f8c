import { afterAll, beforeAll } from 'vitest';
import { runControllers } from '#sandbox/controllers/run-controllers.ts';
import { type ApiServer, startApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

/** Registers hooks of the present `describe` that run the sandbox's API server with its controllers. */
export function runningApiServer(): () => ApiServer {
  const stop = new AbortController();
  let server: ApiServer | undefined;
  let running: Promise<void>;
  beforeAll(async () => {
    const log = createLog({ component: 'sandbox', level: 'silent', format: 'json' });
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log });
    const { url, token, caPem: ca } = server;
    const client = createClient(directConnection({ server: url, token, ca }), { userAgent: 'controllers' });
    running = runControllers({ client, clock: systemClock, log }, stop.signal).finally(() => client.close());
  });
  afterAll(async () => {
    stop.abort();
    await running;
    await server?.close();
  });
  return () => {
    if (server === undefined) throw new Error('the API server is not up');
    return server;
  };
}

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';
import { folderWith } from './run-plimsoll.ts';

/** An API server in this process, and a kubeconfig that leads to it. */
export interface SandboxCluster {
  readonly kubeconfig: string;
  readonly client: () => KubeClient;
}

/** Starts an API server before the tests of the present `describe`, and fills it. */
export function sandboxCluster(fill: (client: KubeClient) => Promise<void>): SandboxCluster {
  const kubeconfig = join(folderWith({}), 'config');
  let api: ApiServer | undefined;
  let client: KubeClient | undefined;

  beforeAll(async () => {
    const log = createLog({ component: 'test', level: 'fatal', format: 'json' });
    api = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log, users: new Map() });
    client = createClient(directConnection({ server: api.url, token: api.token, ca: api.caPem }), {
      userAgent: 'test',
    });
    writeFileSync(kubeconfig, kubeconfigFor(api));
    await fill(client);
  });
  afterAll(async () => {
    client?.close();
    await api?.close();
  });

  return {
    kubeconfig,
    client: () => {
      if (client === undefined) throw new Error('the API server has not been started');
      return client;
    },
  };
}

function kubeconfigFor({ url, caPem, token }: ApiServer): string {
  const ca = { 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'sandbox',
    contexts: [{ name: 'sandbox', context: { cluster: 'sandbox', user: 'admin', namespace: 'payments' } }],
    clusters: [{ name: 'sandbox', cluster: { server: url, ...ca } }],
    users: [{ name: 'admin', user: { token } }],
  });
}

import { describe } from 'vitest';
import { directConnection } from '#shared/kube/client/connection.ts';
import { apiServerContract } from '#test/contract/api-server.ts';
import { runningApiServer } from './running-api-server.ts';

describe('the sandbox API server', () => {
  const server = runningApiServer();
  apiServerContract(() => {
    const { url, token, caPem: ca } = server();
    return { kind: 'sandbox', connection: directConnection({ server: url, token, ca }) };
  });
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { directConnection } from '#shared/kube/client/connection.ts';
import { startApiServer, type ApiServer } from '#sandbox/api-server/start-api-server.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { createLog } from '#shared/runtime/log.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';

describe('a bounded history', () => {
  let server: ApiServer;
  let client: KubeClient;

  beforeAll(async () => {
    const log = createLog({ component: 'test', level: 'silent', format: 'json' });
    server = await startApiServer({ host: '127.0.0.1', port: 0, clock: systemClock, log, historyLimit: 5 });
    client = createClient(directConnection({ server: server.url, token: server.token, ca: server.caPem }), {
      userAgent: 'test',
    });
  });
  afterAll(async () => {
    client.close();
    await server.close();
  });

  async function make(name: string): Promise<string> {
    const made = await client.request({ method: 'POST', path: MAPS, body: { metadata: { name } } });
    return made.kind === 'ok'
      ? (made.object as { metadata: { resourceVersion: string } }).metadata.resourceVersion
      : '';
  }

  test('a watch from before it gets 410 inside the stream', async () => {
    const first = await make('first');
    for (let n = 0; n < 8; n += 1) await make(`later-${n}`);
    const answer = await client.request({
      method: 'GET',
      path: MAPS,
      query: { watch: 'true', resourceVersion: first, timeoutSeconds: '1' },
    });
    expect(answer).toMatchObject({ kind: 'ok', object: { type: 'ERROR', object: { code: 410, reason: 'Expired' } } });
  });

  test('a page after compaction gets 410 with a token that goes on', async () => {
    const page = await client.request({ method: 'GET', path: MAPS, query: { limit: '2' } });
    const token = page.kind === 'ok' ? (page.object as { metadata: { continue: string } }).metadata.continue : '';
    server.state.snapshots.clear();
    const refused = await client.request({ method: 'GET', path: MAPS, query: { limit: '2', continue: token } });
    expect(refused).toMatchObject({
      kind: 'gone',
      message: expect.stringContaining('The provided continue parameter is too old') as string,
    });
  });

  test('a version from the future gets 504', async () => {
    const answer = await client.request({ method: 'GET', path: MAPS, query: { resourceVersion: '999999' } });
    expect(answer).toMatchObject({
      kind: 'serverError',
      status: 504,
      message: expect.stringContaining('Too large resource version: 999999') as string,
    });
  });
});

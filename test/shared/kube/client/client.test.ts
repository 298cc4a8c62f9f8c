import { getEventListeners } from 'node:events';
import { afterEach, describe, expect, test } from 'vitest';
import { createAuthority, issueServerCertificate } from '#shared/http/certificates.ts';
import { createClient, type KubeClient } from '#shared/kube/client/client.ts';
import { type KubeRequest, directConnection } from '#shared/kube/client/connection.ts';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { manualClock } from '#test/fakes/manual-clock.ts';
import { sendJson, wireServer, type WireHandler, type WireServer } from '#test/fakes/wire-server.ts';
import { eventually } from '#test/build/waiting.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const it of open.splice(0).reverse()) await it.close();
});

async function rig(handler: WireHandler): Promise<{ readonly server: WireServer; readonly client: KubeClient }> {
  const server = await wireServer(handler);
  const client = createClient(directConnection({ server: server.url, token: 'secret' }), { userAgent: 'tester/1' });
  open.push(server, client);
  return { server, client };
}

async function ask(handler: WireHandler, request: Partial<KubeRequest> = {}): Promise<Outcome<unknown>> {
  const { client } = await rig(handler);
  return client.request({ path: '/api/v1/pods', ...request });
}

describe('createClient', () => {
  test('sends token, agent and JSON, and leaves out what is not asked', async () => {
    const bodies: string[] = [];
    const { server, client } = await rig((_, response, body) => {
      bodies.push(body);
      sendJson(response, 201, { made: true });
    });
    const query = { dryRun: 'All', limit: 5, watch: false, force: true, fieldManager: undefined };
    const outcome = await client.request({ method: 'POST', path: '/api/v1/pods', query, body: { a: 'ü' } });
    expect(outcome).toEqual({ kind: 'ok', object: { made: true }, warnings: [] });
    expect(server.requests).toEqual([
      {
        method: 'POST',
        url: '/api/v1/pods?dryRun=All&limit=5&force=true',
        headers: expect.objectContaining({
          authorization: 'Bearer secret',
          'user-agent': 'tester/1',
          accept: 'application/json',
          'content-type': 'application/json',
          'content-length': '10',
        }) as object,
      },
    ]);
    expect(bodies).toEqual(['{"a":"ü"}']);
  });

  test('repeats a read until it has a connection that the server has not closed', async () => {
    const used = new Set<unknown>();
    const waiting: (() => void)[] = [];
    const { client } = await rig(({ socket }, response) => {
      if (used.has(socket)) return void socket.destroy();
      used.add(socket);
      waiting.push(() => sendJson(response, 200, {}));
      if (used.size >= 3) for (const answer of waiting.splice(0)) answer();
    });
    const read = () => client.request({ path: '/api/v1/pods' });
    await Promise.all([read(), read(), read()]);
    expect(await read()).toMatchObject({ kind: 'ok' });
  });

  test('hands on what the server warns of', async () => {
    const warning = ['299 - "first \\"one\\""', '299 - "second"'];
    expect(await ask((_, response) => sendJson(response, 200, {}, { warning }))).toMatchObject({
      warnings: ['first "one"', 'second'],
    });
  });

  test('a refusal is an outcome with the words of the server', async () => {
    const status = { kind: 'Status', code: 409, reason: 'Conflict', message: 'modified' };
    expect(await ask((_, response) => sendJson(response, 409, status))).toMatchObject({
      kind: 'conflict',
      status: 409,
      message: 'modified',
    });
    expect(await ask((_, response) => sendJson(response, 429, {}, { 'retry-after': '3' }))).toMatchObject({
      kind: 'tooManyRequests',
      retryAfterSeconds: 3,
    });
    expect(await ask((_, response) => void response.writeHead(502).end('Bad Gateway'))).toMatchObject({
      kind: 'serverError',
      message: 'Bad Gateway',
    });
  });

  test.each<[string, WireHandler, object]>([
    [
      'an answer that is no JSON',
      (_, response) => void response.end('<html>'),
      { kind: 'serverError', message: 'the answer is not JSON' },
    ],
    [
      'a cut-off answer',
      (_, response) => void response.writeHead(200, { 'content-length': 50 }).write('{"a":', () => response.destroy()),
      { kind: 'unreachable' },
    ],
    [
      'a reset',
      (request) => void request.socket.destroy(),
      { kind: 'unreachable', message: 'no answer from the API server: socket hang up' },
    ],
  ])('%s is an outcome, too', async (_, handler, expected) => {
    expect(await ask(handler)).toMatchObject(expected);
  });

  test('no server is an outcome, too', async () => {
    const server = await wireServer(() => undefined);
    await server.close();
    const client = createClient(directConnection({ server: server.url }), { userAgent: 't' });
    expect(await client.request({ path: '/' })).toMatchObject({ kind: 'unreachable' });
  });

  test('gives up after its time, by the clock it was given', async () => {
    const server = await wireServer(() => undefined);
    const clock = manualClock();
    const client = createClient(directConnection({ server: server.url }), { userAgent: 't', clock });
    open.push(server, client);
    const asked = client.request({ path: '/', timeoutMs: 5_000 });
    await clock.advance(5_000);
    expect(await asked).toEqual({ kind: 'timeout', message: 'no answer within 5000 ms' });
  });

  test('ends with the signal of the caller', async () => {
    const { client } = await rig(() => undefined);
    const stop = new AbortController();
    const asked = client.request({ path: '/', signal: stop.signal });
    stop.abort();
    expect(await asked).toEqual({ kind: 'unreachable', message: 'the request was cancelled' });
  });

  test('keeps its connection', async () => {
    const { server, client } = await rig((_, response) => sendJson(response, 200, {}));
    for (let n = 0; n < 5; n += 1) await client.request({ path: '/' });
    expect(server.connections()).toBe(1);
  });

  test('repeats a read that met a closing connection, never a write', async () => {
    const isAgain = new Set<unknown>();
    const { server, client } = await rig((request, response) => {
      const { socket } = request;
      if (isAgain.has(socket)) socket.resetAndDestroy();
      else sendJson(response, 200, {});
      isAgain.add(socket);
    });
    expect(await client.request({ path: '/' })).toMatchObject({ kind: 'ok' });
    expect(await client.request({ path: '/' })).toMatchObject({ kind: 'ok' });
    expect(await client.request({ method: 'POST', path: '/', body: {} })).toMatchObject({ kind: 'unreachable' });
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'GET', 'GET', 'POST']);
  });

  test('streams an answer piece by piece, and closes it', async () => {
    let writeSecond = (): void => undefined;
    const { client } = await rig((_, response) => {
      response.writeHead(200).write('one\n');
      writeSecond = () => void response.write('two\n');
    });
    const opened = await client.stream({ path: '/', query: { watch: true }, timeoutMs: 5_000 });
    if (opened.kind !== 'ok') throw new Error(opened.message);
    let text = '';
    const reading = (async () => {
      for await (const chunk of opened.object) {
        text += chunk.toString();
        if (text === 'one\n') writeSecond();
        if (text === 'one\ntwo\n') opened.object.close();
      }
    })();
    await expect(reading).rejects.toThrow('aborted');
    expect(text).toBe('one\ntwo\n');
  });

  test('a stream outlives the deadline for its headers, and is refused like anything else', async () => {
    const server = await wireServer((request, response) => {
      if (request.url === '/gone') sendJson(response, 410, { message: 'too old' });
      if (request.url === '/open') response.writeHead(200).write('{}\n');
    });
    const clock = manualClock();
    const client = createClient(directConnection({ server: server.url }), { userAgent: 't', clock });
    open.push(server, client);
    expect(await client.stream({ path: '/gone' })).toMatchObject({ kind: 'gone', message: 'too old' });
    const opened = await client.stream({ path: '/open', timeoutMs: 1_000 });
    await clock.advance(60_000);
    if (opened.kind !== 'ok') throw new Error(opened.message);
    const first = await opened.object[Symbol.asyncIterator]().next();
    expect(String(first.value)).toBe('{}\n');
    opened.object.close();
    const silent = client.stream({ path: '/silent', timeoutMs: 1_000 });
    await clock.advance(1_000);
    expect(await silent).toMatchObject({ kind: 'timeout' });
  });

  test('a stream that has ended leaves nothing on the signal that could have ended it', async () => {
    const { client } = await rig((request, response) => {
      if (request.url === '/gone') sendJson(response, 410, { message: 'too old' });
      else response.writeHead(200).end('{}\n');
    });
    const { signal } = new AbortController();
    for (const path of ['/whole', '/gone', '/whole']) {
      const opened = await client.stream({ path, signal });
      if (opened.kind !== 'ok') continue;
      for await (const chunk of opened.object) expect(String(chunk)).toBe('{}\n');
    }
    await eventually(() => expect(getEventListeners(signal, 'abort').length).toBe(0), 30_000);
  });

  test('counts its requests', async () => {
    const server = await wireServer((_, response) => sendJson(response, 404, {}));
    const metrics = createMetrics('test');
    const client = createClient(directConnection({ server: server.url }), { userAgent: 't', metrics });
    open.push(server, client);
    await client.request({ path: '/' });
    expect(await metrics.text()).toContain('plimsoll_kube_requests_total{method="GET",code="404"} 1');
  });

  test('trusts the CA of its connection, and no other', async () => {
    const now = Date.now();
    const authority = createAuthority({ commonName: 'ours', days: 1, now });
    const leaf = issueServerCertificate(authority, { dnsNames: [], ipAddresses: ['127.0.0.1'], days: 1, now });
    const server = await wireServer((_, response) => sendJson(response, 200, {}), leaf);
    open.push(server);
    const other = createAuthority({ commonName: 'other', days: 1, now });
    const asked = ['ours', 'other'].map(async (whose) => {
      const ca = whose === 'ours' ? authority.certPem : other.certPem;
      const client = createClient(directConnection({ server: server.url, ca }), { userAgent: 't' });
      open.push(client);
      return (await client.request({ path: '/' })).kind;
    });
    expect(await Promise.all(asked)).toEqual(['ok', 'unreachable']);
  });

  test.each(['', 'nonsense', 'ftp://x', 'http://example.test', 'http://10.0.0.1'])(
    'refuses the address "%s"',
    (server) => {
      expect(() => createClient({ server }, { userAgent: 't' })).toThrow(`cannot use API server address "${server}"`);
    },
  );
});

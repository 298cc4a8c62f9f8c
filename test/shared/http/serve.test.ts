import { request as httpsRequest, Agent } from 'node:https';
import {
  Agent as KeepAliveAgent,
  get as httpGet,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { afterEach, describe, expect, test } from 'vitest';
import { createAuthority, issueClientCertificate, issueServerCertificate } from '#shared/http/certificates.ts';
import { serve, type ServeOptions, type Server } from '#shared/http/serve.ts';

const now = Date.now();
const authority = createAuthority({ commonName: 'test-ca', days: 1, now });
const leaf = (name: string) =>
  issueServerCertificate(authority, { dnsNames: [name, 'localhost'], ipAddresses: ['127.0.0.1'], days: 1, now });

const running: Server[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((server) => server.close()));
});

async function start(options: Partial<ServeOptions>): Promise<Server> {
  const server = await serve({
    handler: (_, response) => response.end('hello'),
    host: '127.0.0.1',
    port: 0,
    ...options,
  });
  running.push(server);
  return server;
}

interface Seen {
  readonly status: number | undefined;
  readonly body: string;
  readonly subject: unknown;
}

function call(
  port: number,
  options: RequestOptions & { ca?: string; cert?: string; key?: string } = {},
): Promise<Seen> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: '127.0.0.1', port, ca: authority.certPem, ...options }, (response) => {
      const subject =
        response.socket instanceof TLSSocket ? response.socket.getPeerCertificate().subject.CN : undefined;
      readText(response).then((body) => resolve({ status: response.statusCode, body, subject }), reject);
    });
    request.on('error', reject).end();
  });
}

function textOf(url: string, agent?: KeepAliveAgent): Promise<string> {
  return new Promise((resolve, reject) => {
    httpGet(url, agent === undefined ? {} : { agent }, (response) => void readText(response).then(resolve, reject)).on(
      'error',
      reject,
    );
  });
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

describe('serve', () => {
  test('speaks TLS with the certificate given', async () => {
    const server = await start({ tls: leaf('first') });
    expect(await call(server.port)).toEqual({ status: 200, body: 'hello', subject: 'first' });
    expect(server.url).toBe(`https://127.0.0.1:${server.port}`);
  });

  test('gives new connections the new certificate and keeps open ones', async () => {
    const server = await start({ tls: leaf('first') });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await call(server.port, { agent });
    server.setCertificate(leaf('second'));
    const kept = await call(server.port, { agent });
    const fresh = await call(server.port, { agent: new Agent() });
    agent.destroy();
    expect([kept.subject, fresh.subject]).toEqual(['first', 'second']);
  });

  test('asks for a client certificate when configured to', async () => {
    const server = await start({ tls: { ...leaf('first'), clientCaPem: authority.certPem } });
    const known = issueClientCertificate(authority, { commonName: 'api', days: 1, now });
    const stranger = issueClientCertificate(createAuthority({ commonName: 'x', days: 1, now }), {
      commonName: 'api',
      days: 1,
      now,
    });
    await expect(call(server.port)).rejects.toThrow();
    await expect(call(server.port, { cert: stranger.certPem, key: stranger.keyPem })).rejects.toThrow();
    expect(await call(server.port, { cert: known.certPem, key: known.keyPem })).toMatchObject({ status: 200 });
  });

  test('names a port that is in use', async () => {
    const { port } = await start({});
    await expect(start({ port })).rejects.toThrow(`cannot listen on "127.0.0.1:${port}": the port is in use`);
  });

  test('refuses a certificate on a plain server', async () => {
    const server = await start({});
    expect(() => server.setCertificate(leaf('first'))).toThrow('this server speaks plain HTTP');
  });

  test('lets an answer under way end while closing, then ends kept connections', async () => {
    const arrived = Promise.withResolvers<undefined>();
    const release = Promise.withResolvers<undefined>();
    const handler: ServeOptions['handler'] = (_, response) => {
      arrived.resolve(undefined);
      void release.promise.then(() => response.end('late'));
    };
    const server = await serve({ handler, host: '127.0.0.1', port: 0 });
    const answer = new Promise<string>((resolve, reject) => {
      httpGet(server.url, (response) => void readText(response).then(resolve, reject)).on('error', reject);
    });
    await arrived.promise;
    const closed = server.close();
    await expect(new Promise((_, reject) => connect(server.port, '127.0.0.1').on('error', reject))).rejects.toThrow(
      'ECONNREFUSED',
    );
    release.resolve(undefined);
    expect(await answer).toBe('late');
    await closed;
  });

  test('lets callers leave by themselves before it closes', async () => {
    const server = await start({});
    const agent = new KeepAliveAgent({ keepAlive: true });
    const connection = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        httpGet(server.url, { agent }, (response) => {
          void readText(response).then(() => resolve(response.headers.connection), reject);
        }).on('error', reject);
      });
    const before = await connection();
    server.stopKeepingAlive();
    expect([before, await connection(), await connection()]).toEqual(['keep-alive', 'close', 'close']);
    agent.destroy();
  });

  test('cuts off an answer that never ends when the drain is over', async () => {
    const server = await serve({
      handler: (_, response) => response.write('x'),
      host: '127.0.0.1',
      port: 0,
      drainMs: 50,
    });
    const response = await new Promise<IncomingMessage>((resolve) => httpGet(server.url, resolve));
    const cut = new Promise((resolve) => response.on('error', resolve).resume());
    await server.close();
    expect(await cut).toBeInstanceOf(Error);
  });

  test('a connection that never begins TLS does not outlast the drain', async () => {
    const server = await start({ tls: leaf('silent'), drainMs: 50 });
    const silent = connect(server.port, '127.0.0.1');
    await once(silent, 'connect');
    const ended = once(silent, 'close');
    await server.close();
    await ended;
  });

  test('ends a connection whose TLS handshake does not come in time', async () => {
    const server = await start({ tls: leaf('silent'), handshakeTimeoutMs: 100 });
    const silent = connect(server.port, '127.0.0.1');
    await once(silent.resume(), 'close');
  });

  test('can be closed twice', async () => {
    const server = await start({});
    await server.close();
    await server.close();
  });

  test('lets the caller read an answer given before the whole body was sent, and reads no more', async () => {
    const server = await start({ handler: (_, response) => response.writeHead(413).end('too large') });
    const body = Buffer.alloc(9 * 1024 * 1024);
    const answer = await new Promise<Seen>((resolve, reject) => {
      const request = httpRequest(server.url, { method: 'POST', headers: { 'Content-Length': body.length } });
      request.on('error', reject).on('response', (response) => {
        request.off('error', reject).on('error', () => undefined);
        readText(response).then(
          (text) => resolve({ status: response.statusCode, body: text, subject: undefined }),
          reject,
        );
      });
      request.end(body);
    });
    expect(answer).toEqual({ status: 413, body: 'too large', subject: undefined });
  });

  const broken: Record<string, { bytes: string; line: string }> = {
    'what is no HTTP': { bytes: 'hello\r\n\r\n', line: 'HTTP/1.1 400 Bad Request' },
    'headers beyond 16 KiB': {
      bytes: `GET / HTTP/1.1\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`,
      line: 'HTTP/1.1 431 Request Header Fields Too Large',
    },
  };
  test.each(Object.entries(broken))('answers %s and goes on', async (_, { bytes, line }) => {
    const server = await start({});
    const answer = await new Promise<string>((resolve, reject) => {
      const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
      socket.on('data', (data) => resolve(data.toString())).on('error', reject);
    });
    expect(answer.split('\r\n')[0]).toBe(line);
  });

  test.each(['http', 'https'])(
    'callers that hold connections without a request shut out no other caller, over %s',
    async (scheme) => {
      const tls = scheme === 'https' ? { tls: leaf('held') } : {};
      const server = await start({ maxConnections: 4, ...tls });
      const held = Array.from({ length: 10 }, () => connect(server.port, '127.0.0.1').on('error', () => undefined));
      await Promise.all(held.map((socket) => once(socket, 'connect')));
      const answer = scheme === 'https' ? (await call(server.port)).body : await textOf(server.url);
      expect(answer).toBe('hello');
      for (const socket of held) socket.destroy();
    },
  );

  test('a connection that asked keeps its place before one that did not', async () => {
    const server = await start({ maxConnections: 2 });
    const agent = new KeepAliveAgent({ keepAlive: true, maxSockets: 1 });
    expect(await textOf(server.url, agent)).toBe('hello');
    const held = Array.from({ length: 5 }, () =>
      connect(server.port, '127.0.0.1')
        .on('error', () => undefined)
        .resume(),
    );
    await Promise.all(held.slice(0, 4).map((socket) => once(socket, 'close')));
    const [kept] = Object.values(agent.freeSockets).flat();
    expect([kept?.destroyed, held[4]?.destroyed]).toEqual([false, false]);
    held[4]?.destroy();
    agent.destroy();
  });

  test('ends a request that does not arrive in time', async () => {
    const handler: ServeOptions['handler'] = (request, response) =>
      void request.resume().on('end', () => response.end());
    const server = await start({ handler, requestTimeoutMs: 100 });
    const status = await new Promise((resolve, reject) => {
      const request = httpRequest(server.url, { method: 'POST', headers: { 'Content-Length': 10 } });
      request
        .on('response', (response) => resolve(response.statusCode))
        .on('error', reject)
        .write('half');
    });
    expect(status).toBe(408);
  });

  describe('a spare connection', () => {
    async function open(port: number): Promise<Socket> {
      const socket = connectTls({ port, host: '127.0.0.1', ca: authority.certPem });
      await once(socket, 'secureConnect');
      return socket;
    }

    test('is kept for a first request, which must be complete in time', async () => {
      const server = await start({ tls: leaf('spare'), requestTimeoutMs: 100 });
      const [spare, slow, half] = await Promise.all([open(server.port), open(server.port), open(server.port)]);
      half.write('GET / HTTP/1.1\r\n');
      expect(await firstLine(half)).toBe('HTTP/1.1 408 Request Timeout');
      spare.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      slow.write('GET / HTTP/1.1\r\n');
      expect(await firstLine(spare)).toBe('HTTP/1.1 200 OK');
      expect(await firstLine(slow)).toBe('HTTP/1.1 408 Request Timeout');
      spare.destroy();
    });

    test('is closed when it has been unused for as long as an idle one', async () => {
      const server = await start({ requestTimeoutMs: 100, keepAliveMs: 100 });
      const spare = connect(server.port, '127.0.0.1');
      const received: string[] = [];
      spare.on('data', (data) => received.push(data.toString()));
      await once(spare, 'close');
      expect(received).toEqual([]);
    });
  });
});

async function firstLine(socket: Socket): Promise<string | undefined> {
  const [data] = (await once(socket, 'data')) as [Buffer];
  return data.toString().split('\r\n')[0];
}

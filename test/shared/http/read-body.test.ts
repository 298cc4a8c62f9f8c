import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { createBodyAllowance, readBody, type Body, type BodyLimits } from '#shared/http/read-body.ts';
import { serve, type Server } from '#shared/http/serve.ts';

let server: Server | undefined;
afterEach(() => server?.close());

/** Starts a server that reads bodies of up to 10 bytes and gives what the next one became, and when it came. */
async function reader(
  limits: Omit<BodyLimits, 'maxBytes'> = {},
): Promise<{ url: string; port: number; came: Promise<unknown>; next: Promise<Body> }> {
  const { promise: next, resolve } = Promise.withResolvers<Body>();
  const { promise: came, resolve: noteCame } = Promise.withResolvers<undefined>();
  server = await serve({
    handler: (request, response) => {
      void readBody(request, { maxBytes: 10, ...limits }).then((body) => {
        response.end();
        resolve(body);
      });
      noteCame(undefined);
    },
    host: '127.0.0.1',
    port: 0,
  });
  return { url: server.url, port: server.port, came, next };
}

function send(url: string, chunks: readonly string[], headers: Record<string, string> = {}): void {
  const request = httpRequest(url, { method: 'POST', headers }).on('error', () => undefined);
  for (const chunk of chunks) request.write(chunk);
  request.end();
}

describe('readBody', () => {
  test('reads a body in several chunks', async () => {
    const { url, next } = await reader();
    send(url, ['12345', '67890']);
    expect(await next).toEqual({ kind: 'body', bytes: Buffer.from('1234567890') });
  });

  test('stops by the length announced, and tells how it began', async () => {
    const { port, next } = await reader();
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n1');
    expect(await next).toEqual({ kind: 'tooLarge', limitBytes: 10, beginning: Buffer.from('1') });
    socket.destroy();
  });

  test('stops in the middle of a body without a length', async () => {
    const { url, next } = await reader();
    send(url, ['12345', '67890', '1'], { 'Transfer-Encoding': 'chunked' });
    expect(await next).toEqual({ kind: 'tooLarge', limitBytes: 10, beginning: expect.any(Buffer) as Buffer });
  });

  test('notices that the caller went away', async () => {
    const { port, came, next } = await reader();
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n123');
    await came;
    socket.destroy();
    expect(await next).toEqual({ kind: 'aborted' });
  });

  test('refuses when all bodies together are too many, and gives everything back', async () => {
    const allowance = createBodyAllowance(8);
    expect(allowance.take(4)).toBe(true);
    const first = await reader({ allowance });
    send(first.url, ['123456']);
    expect(await first.next).toEqual({ kind: 'overloaded' });
    await server?.close();
    const second = await reader({ allowance });
    send(second.url, ['1234']);
    expect(await second.next).toMatchObject({ kind: 'body' });
    expect([allowance.take(4), allowance.take(1)]).toEqual([true, false]);
  });
});

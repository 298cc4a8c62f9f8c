import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { endIfUnread } from '#shared/http/linger.ts';
import { serve, type ServeOptions } from '#shared/http/serve.ts';

const STILL_OPEN_AFTER_MS = 300;

/** Sends this, and gives the head of the answer and whether the server has closed the connection a moment later. */
async function answerTo(bytes: string): Promise<{ head: string; isClosed: boolean }> {
  const handler: ServeOptions['handler'] = (request, response) => {
    const answer = (): void => {
      endIfUnread(response);
      response.writeHead(413, { 'Content-Length': 2 }).end('no');
    };
    if (request.headers['x-read'] === undefined) answer();
    else request.resume().on('end', answer);
  };
  const server = await serve({ handler, host: '127.0.0.1', port: 0, drainMs: 10 });
  const socket = connect(server.port, '127.0.0.1', () => socket.write(bytes));
  let isClosed = false;
  socket.on('error', () => undefined).on('end', () => (isClosed = true));
  const head = await new Promise<string>((resolve) => socket.once('data', (data: Buffer) => resolve(data.toString())));
  // The caller goes on writing, which must not cost it the answer.
  socket.write('x'.repeat(1_000));
  await new Promise((resolve) => setTimeout(resolve, STILL_OPEN_AFTER_MS));
  const seen = { head, isClosed };
  socket.destroy();
  await server.close();
  return seen;
}

test('an answer to a request that is not read says that it is the last, and leaves time to read it', async () => {
  const { head, isClosed } = await answerTo('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nbegun');
  expect(head).toMatch(/^HTTP\/1\.1 413 /);
  expect(head).toContain('Connection: close');
  expect(isClosed).toBe(false);
});

test('an answer to a request that is read to its end keeps the connection', async () => {
  const { head } = await answerTo('POST / HTTP/1.1\r\nHost: x\r\nX-Read: 1\r\nContent-Length: 5\r\n\r\nwhole');
  expect(head).toContain('Connection: keep-alive');
});

import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import type { Body } from '#shared/http/read-body.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createBodyTurns, type BodyTurn, type BodyTurnOptions } from '#webhook/body-turns.ts';

const KIB = 1024;
const LARGE = 'x'.repeat(200 * KIB);
const SMALL = 'x'.repeat(KIB);
const agent = new Agent({ keepAlive: true });
let server: Server | undefined;
afterEach(() => server?.close());

interface Came {
  readonly kind: Body['kind'];
  readonly bytes: number;
  readonly turn: BodyTurn;
  readonly answer: () => void;
}

interface Turns {
  /** Requests whose head has been read. */
  readonly arrived: IncomingMessage[];
  readonly came: Came[];
  readonly untilCame: (count: number) => Promise<void>;
  readonly send: (body: string, headers?: Record<string, string>) => void;
  /** Sends one byte of a body of this length. */
  readonly begin: (length: number) => ClientRequest;
  /** Sends the head of a body of this length, and nothing of the body. */
  readonly announce: (length: number) => void;
}

/** A server that hands over each body with its turn, and answers when it is told to. */
async function turns(options: Partial<BodyTurnOptions> = {}): Promise<Turns> {
  const collect = createBodyTurns({ maxBytes: 1024 * KIB, patienceMs: 30_000, ...options });
  const arrived: IncomingMessage[] = [];
  const came: Came[] = [];
  server = await serve({
    handler: (request, response) => {
      arrived.push(request);
      collect(request, (body, turn) => {
        const answer = (): void => {
          turn.end();
          response.end();
        };
        came.push({ kind: body.kind, bytes: body.kind === 'body' ? body.bytes.length : 0, turn, answer });
      });
    },
    host: '127.0.0.1',
    port: 0,
    drainMs: 0,
  });
  const { url } = server;
  const post = (headers: Record<string, string>): ClientRequest =>
    httpRequest(url, { method: 'POST', headers, agent }).on('error', () => undefined);
  return {
    arrived,
    came,
    untilCame: (count) => expect.poll(() => came.length, { timeout: 30_000 }).toBe(count),
    send: (body, headers = { 'Content-Length': String(body.length) }) => void post(headers).end(body),
    begin: (length) => {
      const request = post({ 'Content-Length': String(length) });
      request.write('x');
      return request;
    },
    announce: (length) => post({ 'Content-Length': String(length) }).flushHeaders(),
  };
}

describe('createBodyTurns', () => {
  test('reads one large body at a time, and small ones meanwhile', async () => {
    const { came, untilCame, send } = await turns();
    send(LARGE);
    await untilCame(1);
    send(LARGE);
    send(SMALL, { 'Transfer-Encoding': 'chunked' });
    send(SMALL);
    await untilCame(2);
    expect(came.map(({ bytes }) => bytes)).toEqual([LARGE.length, SMALL.length]);
    came[0]?.answer();
    await untilCame(3);
    came[2]?.answer();
    await untilCame(4);
    expect(came.map(({ bytes }) => bytes).sort()).toEqual([SMALL.length, SMALL.length, LARGE.length, LARGE.length]);
  });

  test('waits for nothing of a body that is announced to be too large', async () => {
    const { came, untilCame, announce } = await turns();
    announce(2 * 1024 * KIB);
    await untilCame(1);
    expect(came.map(({ kind }) => kind)).toEqual(['tooLarge']);
  });

  test('sheds a large body that waits too long for its turn', async () => {
    const { came, untilCame, send } = await turns({ patienceMs: 20 });
    send(SMALL, { 'Transfer-Encoding': 'chunked' });
    await untilCame(1);
    send(LARGE);
    await untilCame(2);
    expect(came.map(({ kind }) => kind)).toEqual(['body', 'overloaded']);
  });

  test('sheds what finds the line full', async () => {
    const { came, untilCame, send } = await turns();
    send(LARGE);
    await untilCame(1);
    for (let waiting = 0; waiting < 65; waiting += 1) send(LARGE);
    await untilCame(2);
    expect(came.map(({ kind }) => kind)).toEqual(['body', 'overloaded']);
  });

  test('gives the turn of a body that comes too slowly to the next', async () => {
    const { arrived, came, untilCame, send, begin } = await turns({ patienceMs: 200 });
    begin(LARGE.length);
    await expect.poll(() => arrived.length, { timeout: 30_000 }).toBe(1);
    await untilCame(1);
    send(LARGE);
    await untilCame(2);
    expect(came.map(({ kind }) => kind)).toEqual(['aborted', 'overloaded']);
    came[0]?.answer();
    send(LARGE);
    await untilCame(3);
    expect(came[2]?.kind).toBe('body');
  });

  test('passes over who went away while waiting', async () => {
    const { arrived, came, untilCame, send, begin } = await turns();
    send(LARGE);
    await untilCame(1);
    const gone = begin(LARGE.length);
    await expect.poll(() => arrived.length, { timeout: 30_000 }).toBe(2);
    gone.destroy();
    send(LARGE);
    came[0]?.answer();
    await untilCame(2);
    came[1]?.answer();
    await untilCame(3);
    expect(came.map(({ kind }) => kind)).toEqual(['body', 'aborted', 'body']);
  });

  test('small bodies share what they may take, until they are answered', async () => {
    const { came, untilCame, send } = await turns({ togetherBytes: 10 * KIB });
    send(SMALL);
    await untilCame(1);
    expect([came[0]?.turn.take(8 * KIB), came[0]?.turn.take(8 * KIB)]).toEqual([true, false]);
    send('x'.repeat(4 * KIB));
    await untilCame(2);
    expect(came[1]?.kind).toBe('overloaded');
    came[0]?.answer();
    send('x'.repeat(4 * KIB));
    await untilCame(3);
    expect(came[2]?.kind).toBe('body');
  });
});

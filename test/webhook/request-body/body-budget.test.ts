import { Agent, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { afterEach, describe, expect, test } from 'vitest';
import { endIfUnread } from '#shared/http/connections.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createBodyReader, type BodyBudget, type ReviewBody } from '#webhook/request-body/body-budget.ts';
import { eventually } from '#test/build/waiting.ts';

const KIB = 1024;
const agent = new Agent({ keepAlive: true });
let server: Server | undefined;
afterEach(() => server?.close());

interface Read {
  /** Requests whose head has been read. */
  readonly arrived: IncomingMessage[];
  readonly came: Came[];
  readonly untilCame: (count: number) => Promise<void>;
  readonly untilArrived: (count: number) => Promise<void>;
  /** Begins a request and gives how to send its body. */
  readonly begin: (length: number | undefined) => ClientRequest;
  readonly send: (body: string) => Promise<Answered>;
}

type Came =
  | { readonly kind: 'whole'; readonly text: string; readonly values: number }
  | { readonly kind: 'unread'; readonly why: string; readonly uid: string | undefined }
  | { readonly kind: 'gone' };

interface Answered {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  /** The port from which the caller sent it. */
  readonly from: number | undefined;
}

/** A server that reads bodies and answers 200 to each that it could read, else 429. */
async function reader({ busyMs = 0, ...budget }: Partial<BodyBudget> & { busyMs?: number } = {}): Promise<Read> {
  const limits = { depth: 10, values: 1_000 };
  const readBody = createBodyReader({ maxBytes: 1024 * KIB, limits, patienceMs: 30_000, ...budget });
  const arrived: IncomingMessage[] = [];
  const came: Came[] = [];
  server = await serve({
    handler: (request, response) => {
      arrived.push(request);
      readBody(request, (body) => {
        came.push(cameOf(body));
        if (body.kind === 'whole') beBusy(busyMs);
        endIfUnread(response);
        response.writeHead(body.kind === 'whole' ? 200 : 429).end();
      });
    },
    host: '127.0.0.1',
    port: 0,
    drainMs: 0,
  });
  const { url } = server;
  const begin = (length: number | undefined): ClientRequest => {
    const headers = length === undefined ? { 'Transfer-Encoding': 'chunked' } : { 'Content-Length': String(length) };
    return httpRequest(url, { method: 'POST', headers, agent }).on('error', () => undefined);
  };
  return {
    arrived,
    came,
    untilCame: (count) => eventually(() => expect(came.length).toBe(count), 30_000),
    untilArrived: (count) => eventually(() => expect(arrived.length).toBe(count), 30_000),
    begin,
    send: (body) =>
      new Promise((resolve, reject) => {
        const request = begin(Buffer.byteLength(body));
        request.on('error', reject).on('response', (response) => {
          const from = request.socket?.localPort;
          const { statusCode: status, headers } = response;
          response.resume().on('end', () => resolve({ status, connection: headers.connection, from }));
        });
        request.end(body);
      }),
  };
}

function beBusy(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until) continue;
}

function cameOf(body: ReviewBody): Came {
  if (body.kind === 'whole') return { kind: 'whole', text: body.bytes.toString(), values: body.values };
  return body.kind === 'gone' ? { kind: 'gone' } : { kind: 'unread', why: body.why, uid: body.start?.uid };
}

/** A body of this many bytes that begins as a review. */
function reviewOf(bytes: number, uid = 'u1', namespace = 'team-a'): string {
  const start = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"${uid}","kind":{},"resource":{},"requestKind":{},"requestResource":{},"namespace":"${namespace}","operation":"CREATE","userInfo":{"username":"u"},"object":"`;
  return `${start}${'x'.repeat(bytes - start.length - 3)}"}}`;
}

const SMALL = reviewOf(2 * KIB);
const MEDIUM = reviewOf(64 * KIB);
const LARGE = reviewOf(400 * KIB);

describe('a body that is read', () => {
  test.each([
    ['small', SMALL],
    ['medium', MEDIUM],
    ['large', LARGE],
    ['empty', ''],
  ])('is there as it was sent: a %s one', async (_, body) => {
    const { came, send } = await reader();
    expect(await send(body)).toMatchObject({ status: 200, connection: 'keep-alive' });
    expect(came).toEqual([{ kind: 'whole', text: body, values: expect.any(Number) as number }]);
  });

  test('is decided after every other body that has arrived is read, even if its request closes first', async () => {
    const readBody = createBodyReader({
      maxBytes: 1024 * KIB,
      limits: { depth: 10, values: 1_000 },
      patienceMs: 30_000,
    });
    const happened: string[] = [];
    for (const name of ['first', 'second']) {
      const request = Readable.from([Buffer.from(SMALL)]).on('close', () => happened.push(`${name} closed`));
      const headers = { 'content-length': String(SMALL.length) };
      readBody(Object.assign(request, { headers }) as unknown as IncomingMessage, ({ kind }) => {
        happened.push(`${name} is ${kind}`);
      });
    }
    await eventually(() => expect(happened).toHaveLength(4));
    expect(happened).toEqual(['first closed', 'second closed', 'first is whole', 'second is whole']);
  });

  test('of unknown length is read too, chunk by chunk', async () => {
    const { came, untilCame, begin } = await reader();
    const request = begin(undefined);
    request.write('[1,');
    request.end('2]');
    await untilCame(1);
    expect(came).toEqual([{ kind: 'whole', text: '[1,2]', values: 2 }]);
  });

  test.each([
    ['small', 4 * KIB],
    ['medium', 60 * KIB],
    ['large', 300 * KIB],
  ])('comes without what stands below managedFields: a %s one', async (_, bytes) => {
    const { came, send } = await reader();
    await send(`{"managedFields":[${'[],'.repeat(bytes / 3)}[]],"a":1}`);
    expect(came.map((each) => each.kind === 'whole' && (JSON.parse(each.text) as unknown))).toEqual([
      { managedFields: [{}], a: 1 },
    ]);
  });
});

describe('large bodies', () => {
  test('are read one at a time, with small and medium ones in between', async () => {
    const { came, untilArrived, untilCame, begin, send } = await reader();
    const first = begin(LARGE.length);
    first.write(LARGE.slice(0, 10 * KIB));
    await untilArrived(1);
    const second = send(reviewOf(400 * KIB, 'u2', 'team-b'));
    await untilArrived(2);
    expect([await send(SMALL), await send(MEDIUM)]).toMatchObject([{ status: 200 }, { status: 200 }]);
    first.end(LARGE.slice(10 * KIB));
    expect(await second).toMatchObject({ status: 200 });
    await untilCame(4);
    expect(came.map((each) => each.kind === 'whole' && each.text.length)).toEqual([
      SMALL.length,
      MEDIUM.length,
      LARGE.length,
      LARGE.length,
    ]);
  });

  test('of one namespace do not fill the queue, and a full queue refuses a review by its first bytes', async () => {
    const { came, untilCame, begin, send } = await reader();
    const greedy = Array.from({ length: 41 }, () => begin(LARGE.length));
    for (const request of greedy) request.write(LARGE.slice(0, 10 * KIB));
    await untilCame(8);
    expect(came).toEqual(came.map(() => ({ kind: 'unread', why: 'tooMany', uid: 'u1' })));
    const other = send(reviewOf(400 * KIB, 'u2', 'team-b').replace('"username":"u"', '"username":"v"'));
    for (const request of greedy) request.destroy();
    expect(await other).toMatchObject({ status: 200 });
  });

  test('that arrive too slowly are refused by their first bytes, and make room for the next', async () => {
    const { came, untilCame, begin, send } = await reader({ patienceMs: 200 });
    begin(LARGE.length).write(LARGE.slice(0, 10 * KIB));
    await untilCame(1);
    expect(came).toEqual([{ kind: 'unread', why: 'tooSlow', uid: 'u1' }]);
    expect(await send(LARGE)).toMatchObject({ status: 200 });
  });

  test('that wait too long for their turn are refused by their first bytes', async () => {
    const { came, send } = await reader({ patienceMs: 200, busyMs: 100 });
    const answers = await Promise.all(Array.from({ length: 6 }, () => send(LARGE)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 429]));
    expect(came).toContainEqual({ kind: 'unread', why: 'tooSlow', uid: 'u1' });
  });

  test('whose clients disconnected make room for the next', async () => {
    const { came, untilArrived, untilCame, begin, send } = await reader();
    const [first, waiting] = [begin(LARGE.length), begin(LARGE.length)];
    first.write(LARGE.slice(0, 10 * KIB));
    await untilArrived(1);
    waiting.write(LARGE.slice(0, 10 * KIB));
    await untilArrived(2);
    const last = send(LARGE);
    await untilArrived(3);
    waiting.destroy();
    await untilCame(1);
    first.destroy();
    expect(await last).toMatchObject({ status: 200 });
    expect(came.map(({ kind }) => kind)).toEqual(['gone', 'gone', 'whole']);
  });

  test('are refused as soon as they hold too much', async () => {
    const { came, send } = await reader();
    const body = `${reviewOf(200 * KIB).slice(0, -3)}","a":[${'[],'.repeat(2_000)}[]],"b":"${'x'.repeat(200 * KIB)}"}}`;
    expect(await send(body)).toMatchObject({ status: 429, connection: 'keep-alive' });
    expect(came).toEqual([{ kind: 'unread', why: 'values', uid: 'u1' }]);
  });
});

describe('medium bodies', () => {
  test('of one namespace take half of the shared budget', async () => {
    const { came, untilArrived, begin, send } = await reader();
    const body = reviewOf(128 * KIB);
    for (let count = 0; count < 64; count += 1) begin(body.length).write(body.slice(0, 10 * KIB));
    await untilArrived(64);
    expect(await send(body)).toMatchObject({ status: 429 });
    expect(came).toEqual([{ kind: 'unread', why: 'tooMany', uid: 'u1' }]);
    expect(await send(reviewOf(128 * KIB, 'u2', 'team-b').replace('"username":"u"', '"username":"v"'))).toMatchObject({
      status: 200,
    });
    expect(await send(SMALL)).toMatchObject({ status: 200 });
  });
});

describe('a body that is not read', () => {
  test('is reported with its first bytes if Content-Length is too large', async () => {
    const { came, untilCame, begin } = await reader();
    begin(2 * 1024 * KIB).write(SMALL);
    await untilCame(1);
    expect(came).toEqual([{ kind: 'unread', why: 'tooLarge', uid: 'u1' }]);
  });

  test('of unknown length ends where it is too large', async () => {
    const { came, untilCame, begin } = await reader();
    begin(undefined).end(reviewOf(2 * 1024 * KIB));
    await untilCame(1);
    expect(came).toEqual([{ kind: 'unread', why: 'tooLarge', uid: 'u1' }]);
  });

  test.each([
    ['depth', `${'['.repeat(11)}${']'.repeat(11)}`],
    ['values', `[${'1,'.repeat(1_001)}1]`],
  ])('is refused for its %s', async (why, body) => {
    const { came, send } = await reader();
    expect(await send(body)).toMatchObject({ status: 429, connection: 'keep-alive' });
    expect(came).toEqual([{ kind: 'unread', why, uid: undefined }]);
  });

  test('keeps its connection for the next request, which is read as usual', async () => {
    const { came, send } = await reader({ maxBytes: 500 * KIB });
    const refused = await send(reviewOf(600 * KIB));
    const next = await send(SMALL);
    expect([refused, next]).toMatchObject([{ status: 429, connection: 'keep-alive' }, { status: 200 }]);
    expect(next.from).toBe(refused.from);
    expect(came.map(({ kind }) => kind)).toEqual(['unread', 'whole']);
  });

  test('closes its connection if too much would have to be read', async () => {
    const { send } = await reader();
    expect(await send(reviewOf(3 * 1024 * KIB))).toMatchObject({ status: 429, connection: 'close' });
  });
});

import { Agent, request as httpsRequest } from 'node:https';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { apiDouble, type ApiDouble } from '#test/fakes/api-double.ts';
import { FITTING, type BadInput } from '#test/webhook/bad-inputs/bad-input.ts';
import { prepareCluster } from '#test/webhook/bad-inputs/cluster.ts';
import { FLOODS } from './floods.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';
import type { ServerProcess } from '#test/webhook/support/server-process.ts';
import { shippedMemoryMiB, startShippedWebhook } from '#test/webhook/support/shipped-webhook.ts';

/** Each carries one request after the other: as many as an API server may open for one tenant, and more than are taken. */
const CONNECTIONS = 400;
const TOO_MANY_CONNECTIONS = 1_000;
/** The longer run is `PLIMSOLL_FLOOD_REQUESTS=1000`: what is held at once depends on the connections alone. */
const REQUESTS = Number(process.env['PLIMSOLL_FLOOD_REQUESTS'] ?? 500);
/** Of the container's memory: the rest is for what the kernel holds for its connections. */
const SHARE = 0.9;

type Sent = Pick<BadInput, 'path' | 'method' | 'headers' | 'body'>;

const GOOD: Sent = {
  path: '/validate',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: createPodReview(pod(FITTING)),
};

const PIECE_BYTES = 64 * 1024;
/** As many as a review may have. */
const READ_BYTES = 3 * 1024 * 1024;

/** In pieces, encrypted as far as the webhook reads: whole, a thousand bodies of 9 MiB would fill this machine. */
function* piecesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += PIECE_BYTES) yield body.subarray(at, at + PIECE_BYTES);
}

/** The status, or `cut` where the connection ended without one. */
function send(agent: Agent, port: number, { body, headers, ...options }: Sent): Promise<number | 'cut'> {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': String(bytes.length) };
  return new Promise((resolve) => {
    const all = { host: '127.0.0.1', port, agent, headers: { ...headers, ...length }, ...options };
    const request = httpsRequest(all, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve('cut'));
    if (bytes.length > READ_BYTES) Readable.from(piecesOf(bytes)).pipe(request);
    else request.end(bytes);
  });
}

describe('floods of expensive requests', () => {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false });
  const greedy = new Agent({ keepAlive: true, maxSockets: TOO_MANY_CONNECTIONS, rejectUnauthorized: false });
  const good = new Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  let api: ApiDouble;
  let webhook: ServerProcess;

  beforeAll(async () => {
    api = await apiDouble();
    prepareCluster(api);
    webhook = await startShippedWebhook(api);
    // Its caches are synced once it decides.
    while ((await send(good, webhook.port, GOOD)) !== 200) continue;
  });
  afterAll(async () => {
    agent.destroy();
    greedy.destroy();
    good.destroy();
    expect(await webhook.stop()).toBe(0);
    await api.close();
  });

  async function flood(input: BadInput, by: Agent, requests: number): Promise<ReadonlySet<number | 'cut'>> {
    const body = Buffer.from(input.body);
    const answers = Array.from({ length: requests }, () => send(by, webhook.port, { ...input, body }));
    return new Set(await Promise.all(answers));
  }

  /** One good request after the other. */
  async function serveGood(signal: AbortSignal): Promise<ReadonlySet<number | 'cut'>> {
    const answers = new Set<number | 'cut'>();
    while (!signal.aborted) answers.add(await send(good, webhook.port, GOOD));
    return answers;
  }

  test.each(FLOODS.map((input) => [input.what, input] as const))('%s', async (_, input) => {
    const over = new AbortController();
    const meanwhile = serveGood(over.signal);
    const answers = await flood(input, agent, REQUESTS).finally(() => over.abort());
    expect(answers).toContain(input.expected.status);
    // A review is answered as one, whatever the load; what is no review may be turned away otherwise.
    const others = input.expected.status === 200 ? [] : [400, 408, 429, 'cut'];
    expect([input.expected.status, ...others]).toEqual(expect.arrayContaining([...answers]));
    expect([...(await meanwhile)]).toEqual([200]);
    expect(webhook.peakMiB()).toBeLessThan(shippedMemoryMiB() * SHARE);
  });

  test('more connections than are taken', async () => {
    for (const input of FLOODS) await flood(input, greedy, TOO_MANY_CONNECTIONS);
    expect(webhook.peakMiB()).toBeLessThan(shippedMemoryMiB() * SHARE);
  });
});

import { Agent, request as httpsRequest } from 'node:https';
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
const REQUESTS = 1_000;
/** Of the container's memory: the rest is for what the kernel holds for its connections. */
const SHARE = 0.9;

type Sent = Pick<BadInput, 'path' | 'method' | 'headers' | 'body'>;

const GOOD: Sent = {
  path: '/validate',
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: createPodReview(pod(FITTING)),
};

/** The status, or `cut` where the connection ended without one. */
function send(agent: Agent, port: number, { body, ...options }: Sent): Promise<number | 'cut'> {
  return new Promise((resolve) => {
    const request = httpsRequest({ host: '127.0.0.1', port, agent, ...options }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0));
    });
    request.on('error', () => resolve('cut')).end(body);
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

  async function flood(input: BadInput, by: Agent): Promise<ReadonlySet<number | 'cut'>> {
    const body = Buffer.from(input.body);
    const answers = Array.from({ length: REQUESTS }, () => send(by, webhook.port, { ...input, body }));
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
    const answers = await flood(input, agent).finally(() => over.abort());
    expect(answers).toContain(input.expected.status);
    // A review is answered as one, whatever the load; what is no review may be turned away otherwise.
    const others = input.expected.status === 200 ? [] : [400, 408, 429, 'cut'];
    expect([input.expected.status, ...others]).toEqual(expect.arrayContaining([...answers]));
    expect([...(await meanwhile)]).toEqual([200]);
    expect(webhook.peakMiB()).toBeLessThan(shippedMemoryMiB() * SHARE);
  });

  test('more connections than are taken', async () => {
    for (const input of FLOODS) await flood(input, greedy);
    expect(webhook.peakMiB()).toBeLessThan(shippedMemoryMiB() * SHARE);
  });
});

import { Agent, request as httpsRequest } from 'node:https';
import { expect, test } from 'vitest';
import { objectServer } from '#test/fakes/object-server.ts';
import { randomSource, type RandomSource } from '#test/fakes/random-source.ts';
import type { BadInput } from './bad-inputs/bad-input.ts';
import { BAD_INPUTS, prepareCluster } from './bad-inputs/cluster.ts';
import { createPodReview, pod } from './reviews.ts';
import type { ServerProcess } from './server-process.ts';
import { shippedMemoryLimitMiB, startShippedWebhook } from './shipped-webhook.ts';

const MUTATIONS = 1_000;
const LARGEST_BYTES = 64 * 1024;
const SEED = 20_260_101;
const WARM_UP = 3_000;
/** Before memory is asked for, each input comes this often, so that caches and bounded memories are full both times. */
const EXPOSURES = 3;
/** Of what is held at the base: what the process may have kept (I12). */
const KEPT = 1.1;

/** Cuts, doubles, flips or replaces a piece of a body. */
function mutate(body: Buffer, random: RandomSource): Buffer {
  const at = random.below(Math.max(1, body.length));
  const length = random.below(20);
  const piece = body.subarray(at, at + length);
  switch (random.below(4)) {
    case 0:
      return Buffer.concat([body.subarray(0, at), body.subarray(at + length)]);
    case 1:
      return Buffer.concat([body.subarray(0, at), piece, body.subarray(at)]);
    case 2:
      return Buffer.concat([body.subarray(0, at), Buffer.of(random.below(256)), body.subarray(at + 1)]);
    default:
      return Buffer.concat([
        body.subarray(0, at),
        Buffer.from(random.pick(['null', '{}', '[]', '-1', '1e999', '"x"', ','])),
        body.subarray(at + length),
      ]);
  }
}

function mutations(body: Buffer, random: RandomSource): Buffer[] {
  return Array.from({ length: BATCH }, () => mutate(body, random));
}

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sent at once; together they may take no more than each alone may, so that each is held to it. */
const BATCH = 5;
const ATTEMPTS = 3;
const HOUR_MS = 3_600_000;

const agent = new Agent({ keepAlive: true, maxSockets: BATCH, rejectUnauthorized: false });

function send(port: number, { path, method, headers }: Omit<BadInput, 'body'>, body: Buffer): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest({ host: '127.0.0.1', port, path, method, headers, agent }, (response) => {
      // From here on only the answer counts: a body that is too large cannot be written to its end.
      request.off('error', reject).on('error', () => undefined);
      let text = '';
      response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
      response.on('error', reject).on('end', () => resolve({ status: response.statusCode ?? 0, body: text }));
    });
    request.on('error', reject).end(body);
  });
}

const HTTP_REFUSALS = [400, 404, 405, 413, 415];

/** Either a refusal of the request, or the answer to a review that was one; anything else is a fault. */
function answerFault({ status, body }: Answer): string | undefined {
  if (HTTP_REFUSALS.includes(status)) return body.length < 500 ? undefined : 'a refusal that is too long';
  if (status !== 200) return `status ${status}`;
  const { kind, response } = JSON.parse(body) as { kind: string; response: Record<string, unknown> };
  const { uid, allowed, status: refusal } = response;
  const isExplained = allowed === true || typeof (refusal as { message?: unknown }).message === 'string';
  const isAnswer = kind === 'AdmissionReview' && typeof uid === 'string' && uid !== '' && isExplained;
  return isAnswer ? undefined : `no answer: ${body.slice(0, 200)}`;
}

/** What is wrong with the answers to a batch. Input that is dear is dear each time; a collection of garbage is not. */
async function faultsOf(webhook: ServerProcess, input: BadInput, batch: readonly Buffer[]): Promise<readonly string[]> {
  let cpuMs = Number.POSITIVE_INFINITY;
  for (let attempt = 0; attempt < ATTEMPTS && cpuMs > input.cpuMs; attempt += 1) {
    const before = webhook.mainThreadMs();
    const answers = await Promise.all(batch.map((each) => send(webhook.port, input, each)));
    cpuMs = webhook.mainThreadMs() - before;
    const found = answers.flatMap((answer) => answerFault(answer) ?? []);
    if (found.length > 0) return found;
  }
  return cpuMs > input.cpuMs ? [`took ${cpuMs} ms of CPU`] : [];
}

/** What is held after every input as it stands, and then much of the usual. */
async function baseOf(webhook: ServerProcess): Promise<number> {
  for (let round = 0; round < EXPOSURES; round += 1) {
    for (const input of BAD_INPUTS) await send(webhook.port, input, Buffer.from(input.body));
  }
  const body = Buffer.from(createPodReview(pod({ priorityClassName: 'standard' })));
  const headers = { 'Content-Type': 'application/json' };
  const good = { id: '', what: '', method: 'POST', path: '/mutate', headers, expected: { status: 200 }, cpuMs: 50 };
  for (let count = 0; count < WARM_UP; count += 1) await send(webhook.port, good, body);
  return webhook.retainedMiB();
}

test(
  `${MUTATIONS} mutations of every bad input: one answer each, in time, no exit, and memory back to base`,
  async () => {
    const api = await objectServer();
    prepareCluster(api);
    const webhook = await startShippedWebhook(api);
    const random = randomSource(SEED);
    const faults: string[] = [];
    const baseMiB = await baseOf(webhook);
    for (const input of BAD_INPUTS) {
      const body = Buffer.from(input.body);
      const rounds = body.length < LARGEST_BYTES ? MUTATIONS / BATCH : 0;
      const batches = [[body], ...Array.from({ length: rounds }, () => mutations(body, random))];
      for (const [round, batch] of batches.entries()) {
        const found = await faultsOf(webhook, input, batch);
        if (found.length > 0) faults.push(`${input.id} ${input.what}, round ${round}: ${found.join('; ')}`);
      }
    }
    expect(faults, `seed ${SEED}`).toEqual([]);
    const endMiB = await baseOf(webhook);
    expect(endMiB).toBeLessThan(baseMiB * KEPT);
    expect(webhook.peakMiB()).toBeLessThan(shippedMemoryLimitMiB());
    expect(await webhook.stop()).toBe(0);
    agent.destroy();
    await api.close();
  },
  HOUR_MS,
);

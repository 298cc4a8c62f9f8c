import { Agent, request as httpsRequest } from 'node:https';
import { expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { apiDouble } from '#test/fakes/api-double.ts';
import { randomSource, type RandomSource } from '#test/fakes/random-source.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import { FITTING, type BadInput } from './bad-input.ts';
import { BAD_INPUTS, prepareCluster } from './cluster.ts';
import { createPodReview, pod, readAnswer } from '#test/webhook/support/reviews.ts';
import type { ServerProcess } from '#test/webhook/support/server-process.ts';
import { startShippedWebhook } from '#test/webhook/support/shipped-webhook.ts';

/** The full run is `PLIMSOLL_MUTATIONS=1000`: it takes six minutes. */
const MUTATIONS = Number(process.env['PLIMSOLL_MUTATIONS'] ?? 120);
/** Others, sent before: by then all of the code has run that refuses, and what is kept later was left by a request. */
const REHEARSED = MUTATIONS / 3;
/** In bytes, or in characters of text. */
const LARGEST_BYTES = 64 * 1024;
const SEED = 20_260_101;
/** More than the webhook remembers the uids of, so that before and after the mutations it remembers the same. */
const GOOD_REVIEWS = 17_000;
/** Of what is held before the mutations: what they may have left (I12). */
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

type Target = Pick<BadInput, 'path' | 'method' | 'headers'>;

interface Answer {
  readonly status: number;
  readonly body: string;
}

/** Sent at once; together they may take no more than each alone may, so that each is held to it. */
const BATCH = 10;
/** Without a limit of its own: a connection whose body is not read to its end lingers for seconds after its answer. */
const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });

function send(port: number, { path, method, headers }: Target, body: Buffer): Promise<Answer> {
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

/** A refusal of the request, or the answer to a valid review; anything else is a fault. */
function answerFault({ status, body }: Answer): string | undefined {
  if (HTTP_REFUSALS.includes(status)) return body.length < 500 ? undefined : 'a refusal that is too long';
  if (status !== 200) return `status ${status}`;
  const { kind, response } = JSON.parse(body) as { kind: string; response: Record<string, unknown> };
  const { uid, allowed, status: refusal } = response;
  const isExplained = allowed === true || typeof (refusal as { message?: unknown }).message === 'string';
  const isAnswer = kind === 'AdmissionReview' && typeof uid === 'string' && uid !== '' && isExplained;
  return isAnswer ? undefined : `no answer: ${body.slice(0, 200)}`;
}

/** What is wrong with the answers to a batch, or with the median of the CPU that it takes when it is sent three times. */
async function faultsOf(webhook: ServerProcess, input: BadInput, batch: readonly Buffer[]): Promise<readonly string[]> {
  const within: number[] = [];
  const over: number[] = [];
  // Two on the same side of the limit are the median's side.
  while (within.length < 2 && over.length < 2) {
    const before = webhook.mainThreadMs();
    const answers = await Promise.all(batch.map((each) => send(webhook.port, input, each)));
    const cpuMs = webhook.mainThreadMs() - before;
    (cpuMs > input.cpuMs ? over : within).push(cpuMs);
    const found = answers.flatMap((answer) => answerFault(answer) ?? []);
    if (found.length > 0) return found;
  }
  return over.length === 2 ? [`took ${over.join(' and ')} ms of CPU, more than ${input.cpuMs} ms`] : [];
}

/** The rest of a body that is shorter than its headers say is waited for, as long as a review has: not a thousand times. */
function isMutated({ headers, body }: BadInput): boolean {
  return !('Content-Length' in headers) && body.length < LARGEST_BYTES;
}

/** Sends every input and `count` mutations of each that is whole and not large; what is wrong with the answers. */
async function sendAll(webhook: ServerProcess, count: number, random: RandomSource): Promise<readonly string[]> {
  const faults: string[] = [];
  for (const input of BAD_INPUTS) {
    const body = Buffer.from(input.body);
    const rounds = isMutated(input) ? count / BATCH : 0;
    for (let round = 0; round <= rounds; round += 1) {
      const found = await faultsOf(webhook, input, round === 0 ? [body] : mutations(body, random));
      if (found.length > 0) faults.push(`${input.id} ${input.what}, round ${round}: ${found.join('; ')}`);
    }
  }
  return faults;
}

/** What the webhook holds once every memory that is bounded by a number is full of good reviews. */
async function retainedMiB(webhook: ServerProcess): Promise<number> {
  const headers = { 'Content-Type': 'application/json' };
  for (let sent = 0; sent < GOOD_REVIEWS; sent += BATCH) {
    const path = sent % (2 * BATCH) === 0 ? WEBHOOK_PATHS.mutate : WEBHOOK_PATHS.validate;
    const bodies = Array.from({ length: BATCH }, () => Buffer.from(createPodReview(pod(FITTING))));
    const answers = await Promise.all(
      bodies.map((body) => send(webhook.port, { path, method: 'POST', headers }, body)),
    );
    for (const { body } of answers) expect(readAnswer(body).allowed).toBe(true);
  }
  return webhook.retainedMiB();
}

test(
  `${MUTATIONS} mutations of every bad input: one answer each, in time, no exit, and memory back to base`,
  async () => {
    const api = await apiDouble();
    prepareCluster(api);
    const webhook = await startShippedWebhook(api);
    const random = randomSource(SEED);
    let code: number | null;
    try {
      const once = await sendAll(webhook, REHEARSED, randomSource(SEED - 1));
      const baseMiB = await retainedMiB(webhook);
      const faults = await sendAll(webhook, MUTATIONS, random);
      expect([...once, ...faults], `seed ${SEED}`).toEqual([]);
      expect(await retainedMiB(webhook)).toBeLessThan(baseMiB * KEPT);
    } finally {
      code = await webhook.stop();
      agent.destroy();
      await api.close();
    }
    expect(code).toBe(0);
  },
  HOUR_MS,
);

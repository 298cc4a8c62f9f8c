import { Agent, request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { because } from '#shared/domain/admission/admission-code.ts';
import { allow, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createBodyTurns } from '#webhook/body-turns.ts';
import { reviewListener, type Judge, type ReviewListenerOptions } from '#webhook/review-listener.ts';
import { createReviewMetrics } from '#webhook/review-metrics.ts';
import { judgeTooLarge } from '#webhook/too-large.ts';
import { createPodReview, pod, readAnswer } from './reviews.ts';

const ALLOWED = allow(because('PriorityAccepted', 'fine'));
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let server: Server | undefined;
afterEach(() => server?.close());

interface Listening {
  readonly logged: string[];
  readonly metricsText: () => Promise<string>;
  readonly post: (body: string) => Promise<{ status: number; body: string; headers: NodeJS.Dict<string | string[]> }>;
}

async function listen(judge: Judge, options: Partial<ReviewListenerOptions> = {}): Promise<Listening> {
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLog({ component: 'webhook', level: 'info', format: 'json', destination });
  const metrics = createMetrics('webhook');
  const handler = reviewListener({
    judges: new Map([['/validate', judge]]),
    judgeTooLarge: judgeTooLarge('Enforce'),
    fallback: (_, response) => response.writeHead(404).end(),
    collect: createBodyTurns({ maxBytes: 1024 * 1024, patienceMs: 30_000 }),
    concurrentRequests: 2,
    deadlineMs: 60_000,
    metrics: createReviewMetrics(metrics, log),
    log,
    ...options,
  });
  const { port } = (server = await serve({ handler, host: '127.0.0.1', port: 0 }));
  return {
    logged,
    metricsText: () => metrics.text(),
    post: (body) =>
      new Promise((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json' };
        const options = { host: '127.0.0.1', port, path: '/validate', method: 'POST', headers, agent };
        const request = httpRequest(options, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (piece: string) => (text += piece));
          response.on('end', () => {
            resolve({ status: response.statusCode ?? 0, body: text, headers: response.headers });
          });
        });
        request.on('error', reject).end(body);
      }),
  };
}

function statusOf(body: string): { readonly reason: string; readonly message: string } {
  const { reason, message } = JSON.parse(body) as { reason: string; message: string };
  return { reason, message };
}

describe('reviewListener', () => {
  test('sheds what is too much at once, says so without Retry-After, and goes on afterwards', async () => {
    const open: ((decision: AdmissionDecision) => void)[] = [];
    const both = Promise.withResolvers<undefined>();
    const { post, metricsText } = await listen(() => {
      const { promise, resolve } = Promise.withResolvers<AdmissionDecision>();
      open.push(resolve);
      if (open.length === 2) both.resolve(undefined);
      return promise;
    });
    const kept = [post(createPodReview(pod())), post(createPodReview(pod()))];
    await both.promise;
    const shed = await post(createPodReview(pod()));
    expect({ status: shed.status, retryAfter: shed.headers['retry-after'], ...statusOf(shed.body) }).toEqual({
      status: 429,
      retryAfter: undefined,
      reason: 'TooManyRequests',
      message: 'Too many requests at once',
    });
    for (const answer of open) answer(ALLOWED);
    expect((await Promise.all(kept)).map(({ status }) => status)).toEqual([200, 200]);
    const after = post(createPodReview(pod()));
    while (open.length < 3) await new Promise((resolve) => setImmediate(resolve));
    open[2]?.(ALLOWED);
    expect((await after).status).toBe(200);
    expect(await metricsText()).toContain('plimsoll_webhook_requests_total{webhook="/validate",code="429"} 1\n');
  });

  test('sheds bodies that are too much together', async () => {
    const collect = createBodyTurns({ maxBytes: 1_000_000, patienceMs: 30_000, togetherBytes: 100 });
    const { post } = await listen(() => ALLOWED, { collect });
    const { status, body } = await post(createPodReview(pod()));
    expect({ status, ...statusOf(body) }).toEqual({
      status: 429,
      reason: 'TooManyRequests',
      message: 'Too many request bodies at once',
    });
  });

  test('says that a connection ends whose body it did not read', async () => {
    const { post } = await listen(() => ALLOWED);
    const { status, headers } = await post(' '.repeat(2 * 1024 * 1024));
    expect({ status, connection: headers['connection'] }).toEqual({ status: 413, connection: 'close' });
  });

  test('answers 500 at its own deadline, and drops a decision that comes later', async () => {
    const late = Promise.withResolvers<AdmissionDecision>();
    const { post, logged } = await listen(() => late.promise, { deadlineMs: 20 });
    const { status, body } = await post(createPodReview(pod()));
    late.resolve(ALLOWED);
    expect({ status, ...statusOf(body) }).toEqual({
      status: 500,
      reason: 'InternalError',
      message: 'Internal error',
    });
    expect(logged.join('')).toContain('Not decided within 20 ms');
  });

  const failing: Record<string, Judge> = {
    'a judge that throws': () => {
      throw new Error('on purpose');
    },
    'a judge that rejects': () => Promise.reject(new Error('on purpose')),
  };
  test.each(Object.entries(failing))('answers 500 for %s, and the next request as ever', async (_, judge) => {
    let next: Judge = judge;
    const { post, logged } = await listen((review) => next(review));
    const answers = [await post(createPodReview(pod())), await post(createPodReview(pod()))];
    next = () => ALLOWED;
    answers.push(await post(createPodReview(pod())));
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 200]);
    expect(logged.filter((line) => line.includes('Could not decide'))).toHaveLength(2);
  });

  test('B-09: judges each of two requests with one uid by its own object, and reports it', async () => {
    const { post, logged, metricsText } = await listen((review) => {
      const { metadata } = review.object as { metadata: { name: string } };
      return { ...ALLOWED, warnings: [metadata.name] };
    });
    const first = createPodReview(pod({}, { name: 'one' }), { uid: 'same' });
    const second = createPodReview(pod({}, { name: 'two' }), { uid: 'same' });
    const answers = [await post(first), await post(first), await post(second)];
    expect(answers.map(({ body }) => readAnswer(body).warnings)).toEqual([['one'], ['one'], ['two']]);
    expect(logged.filter((line) => line.includes('uid came twice'))).toHaveLength(1);
    expect(await metricsText()).toContain('plimsoll_webhook_repeated_uids_total{webhook="/validate"} 1\n');
  });
});

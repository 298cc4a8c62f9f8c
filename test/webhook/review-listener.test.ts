import { Agent, request as httpRequest } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { because, allow, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { serve, type Server } from '#shared/http/serve.ts';
import { createLog } from '#shared/runtime/log.ts';
import { createMetrics } from '#shared/runtime/metrics.ts';
import { createBodyReader } from '#webhook/request-body/body-budget.ts';
import { createPendingReviews } from '#webhook/request-body/fair-queue.ts';
import { createRefusals } from '#webhook/server/refuse-unread.ts';
import { type AdmissionHandler, reviewListener, type ReviewListenerOptions } from '#webhook/server/review-listener.ts';
import { createReviewMetrics } from '#webhook/server/review-metrics.ts';
import { createPodReview, pod, readAnswer } from './support/reviews.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { FAILURES, LOG } from '#webhook/messages.ts';

const ALLOWED = allow(because('PriorityAccepted', 'fine'));
const BOUNDS = { maxBytes: 1024 * 1024, limits: { depth: 20, values: 8_000 } };
const PATHS = ['/validate', '/validate/templates', '/validate/deletions'];
const agent = new Agent({ keepAlive: true, maxSockets: 8 });
let server: Server | undefined;
afterEach(() => server?.close());

interface Answered {
  readonly status: number;
  readonly body: string;
  readonly headers: NodeJS.Dict<string | string[]>;
}

interface Listening {
  readonly logged: string[];
  readonly metricsText: () => Promise<string>;
  readonly post: (body: string | Buffer, path?: string) => Promise<Answered>;
}

async function listen(handle: AdmissionHandler, options: Partial<ReviewListenerOptions> = {}): Promise<Listening> {
  const logged: string[] = [];
  const destination = { write: (line: string) => void logged.push(line) };
  const log = createLog({ component: 'webhook', level: 'info', format: 'json', destination });
  const metrics = createMetrics('webhook');
  const handler = reviewListener({
    handlers: new Map(PATHS.map((path) => [path, handle])),
    refusals: createRefusals('Enforce', BOUNDS),
    fallback: (_, response) => response.writeHead(404).end(),
    readBody: createBodyReader({ ...BOUNDS, patienceMs: 30_000 }),
    pending: createPendingReviews(2),
    deadlineMs: 60_000,
    metrics: createReviewMetrics(metrics, log),
    log,
    ...options,
  });
  const { port } = (server = await serve({ handler, host: '127.0.0.1', port: 0 }));
  return {
    logged,
    metricsText: () => metrics.text(),
    post: (body, path = '/validate') =>
      new Promise((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json' };
        const options = { host: '127.0.0.1', port, path, method: 'POST', headers, agent };
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

describe('whatever begins as a review', () => {
  const text = createPodReview(pod(), { uid: 'the-uid' });
  const TOO_LARGE = { code: 413, decision: 'ReviewTooLarge' };
  const MALFORMED = { code: 400, decision: 'MalformedRequest' };
  const broken: Record<string, { body: string | Buffer; code: number; decision: string; http: number }> = {
    'is cut off': { body: text.slice(0, -1), ...MALFORMED, http: 400 },
    'has something after it': { body: `${text}{}`, ...MALFORMED, http: 400 },
    'is no UTF-8 outside of a text': {
      body: Buffer.concat([Buffer.from(text.slice(0, -1)), Buffer.of(0xff), Buffer.from('}')]),
      ...MALFORMED,
      http: 400,
    },
    'turns out to be something else': { body: `${text.slice(0, -1)},"kind":"Pod"}`, ...MALFORMED, http: 400 },
    'is nested too deep': {
      body: text.replace('"spec":', `"deep":${'['.repeat(30)}${']'.repeat(30)},"spec":`),
      ...MALFORMED,
      http: 400,
    },
    'holds too many values': {
      body: text.replace('"spec":', `"many":[${'1,'.repeat(9_000)}1],"spec":`),
      ...TOO_LARGE,
      http: 413,
    },
    'is too large': { body: text.replace('"spec":', `"a":"${'x'.repeat(2 ** 21)}","spec":`), ...TOO_LARGE, http: 413 },
  };
  test.each(Object.entries(broken))('and %s is answered as one', async (_, { body, code, decision, http }) => {
    const { post, metricsText } = await listen(() => ALLOWED);
    const answer = await post(body);
    const { response } = JSON.parse(answer.body) as { response: object };
    expect({ status: answer.status, response }).toMatchObject({
      status: 200,
      response: { uid: 'the-uid', allowed: false, status: { code }, auditAnnotations: { decision } },
    });
    expect((await post(body, '/validate/deletions')).status).toBe(http);
    expect(await metricsText()).toContain(
      `plimsoll_webhook_decisions_total{webhook="/validate",reason="${decision}"} 1\n`,
    );
  });

  test('is handled whatever managedFields contains, in any encoding', async () => {
    const deep = `[{"fieldsV1":{"f:\u00ff":${'['.repeat(9_000)}${']'.repeat(9_000)}}}]`;
    const body = Buffer.from(text.replace('"metadata":{', `"metadata":{"managedFields":${deep},`), 'latin1');
    const { post } = await listen((review) => {
      const { metadata } = review.object as { metadata: { managedFields: unknown } };
      return { ...ALLOWED, warnings: [JSON.stringify(metadata.managedFields)] };
    });
    expect(readAnswer((await post(body)).body)).toMatchObject({ allowed: true, warnings: ['[{}]'] });
  });

  test('gets 429 if it is not decided in time, and a later decision is dropped', async () => {
    const late = Promise.withResolvers<AdmissionDecision>();
    const { post } = await listen(() => late.promise, { deadlineMs: 20 });
    for (const path of PATHS) {
      const { status, headers, body } = await post(text, path);
      expect({ status, retryAfter: headers['retry-after'], ...readAnswer(body) }).toMatchObject({
        status: 200,
        retryAfter: undefined,
        allowed: false,
        code: 429,
        message: MESSAGES.overloaded.text({ cause: FAILURES.late().message }),
      });
    }
    late.resolve(ALLOWED);
  });

  const DEAR = createPodReview(pod({ many: Array.from({ length: 5_000 }, () => 1) }));

  test('and is expensive lets others be answered between parsing and handling', async () => {
    const order: string[] = [];
    const begin = () => {
      setImmediate(() => order.push('something else'));
      return { end: () => order.push('given back') };
    };
    const handle: AdmissionHandler = () => {
      order.push('judged');
      return ALLOWED;
    };
    const { post } = await listen(handle, { pending: { begin } });
    expect(readAnswer((await post(DEAR)).body).allowed).toBe(true);
    expect(order).toEqual(['something else', 'given back', 'judged']);
  });

  test('and is expensive is refused if too many wait, while others are handled', async () => {
    const { post } = await listen(() => ALLOWED, { pending: { begin: () => undefined } });
    expect(readAnswer((await post(DEAR)).body)).toMatchObject({ allowed: false, code: 429 });
    expect(readAnswer((await post(text)).body)).toMatchObject({ allowed: true });
  });

  test('is logged once a second, however many are refused', async () => {
    const { post, logged } = await listen(() => ALLOWED);
    for (let count = 0; count < 5; count += 1) await post(text.slice(0, -1));
    expect(logged.filter((line) => line.includes(LOG.unread))).toHaveLength(1);
  });
});

describe('reviewListener', () => {
  test('announces that a connection with an unread body closes', async () => {
    const { post } = await listen(() => ALLOWED);
    const { status, headers } = await post(' '.repeat(4 * 1024 * 1024));
    expect({ status, connection: headers['connection'] }).toEqual({ status: 413, connection: 'close' });
  });

  const failing: Record<string, AdmissionHandler> = {
    'a handle that throws': () => {
      throw new Error('on purpose');
    },
    'a handle that rejects': () => Promise.reject(new Error('on purpose')),
  };
  test.each(Object.entries(failing))('answers 500 for %s, and the next request as usual', async (_, handle) => {
    let next: AdmissionHandler = handle;
    const { post, logged } = await listen((review) => next(review));
    const answers = [await post(createPodReview(pod())), await post(createPodReview(pod()))];
    next = () => ALLOWED;
    answers.push(await post(createPodReview(pod())));
    expect(answers.map(({ status }) => status)).toEqual([500, 500, 200]);
    expect(logged.filter((line) => line.includes('Decision failed'))).toHaveLength(2);
  });

  test('hands over a pod without its lists of variables, and a template with them', async () => {
    const seen: unknown[] = [];
    const handle: AdmissionHandler = ({ object }) => {
      seen.push(object);
      return ALLOWED;
    };
    const { post } = await listen(handle);
    const withEnv = (env: readonly unknown[]) => ({ spec: { containers: [{ name: 'c', env }] } });
    const body = createPodReview(withEnv([{ name: 'A' }]));
    for (const path of ['/validate', '/validate/templates']) await post(body, path);
    expect(seen).toEqual([withEnv([]), withEnv([{ name: 'A' }])]);
  });

  test('tells two requests with one uid apart by a variable alone', async () => {
    const { post, logged } = await listen(() => ALLOWED);
    for (const value of ['1', '2']) {
      await post(createPodReview(pod({ containers: [{ name: 'c', env: [{ name: 'A', value }] }] }), { uid: 'same' }));
    }
    expect(logged.filter((line) => line.includes('uid reused'))).toHaveLength(1);
  });

  test('B-09: handles each of two requests with one uid by its own object, and reports it', async () => {
    const { post, logged, metricsText } = await listen((review) => {
      const { metadata } = review.object as { metadata: { name: string } };
      return { ...ALLOWED, warnings: [metadata.name] };
    });
    const first = createPodReview(pod({}, { name: 'one' }), { uid: 'same' });
    const second = createPodReview(pod({}, { name: 'two' }), { uid: 'same' });
    const answers = [await post(first), await post(first), await post(second)];
    expect(answers.map(({ body }) => readAnswer(body).warnings)).toEqual([['one'], ['one'], ['two']]);
    expect(logged.filter((line) => line.includes('uid reused'))).toHaveLength(1);
    expect(await metricsText()).toContain('plimsoll_webhook_repeated_uids_total{webhook="/validate"} 1\n');
  });
});

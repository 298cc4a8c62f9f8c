import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { refuse } from '#shared/domain/admission/decision.ts';
import { isDeeperThan } from '#shared/http/json-depth.ts';
import { readBody, type Body, type BodyLimits } from '#shared/http/read-body.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { Log } from '#shared/runtime/log.ts';
import { decodeReview, type Review } from './decode-review.ts';
import { encodeReview } from './encode-review.ts';
import type { ReviewMetrics } from './review-metrics.ts';

/** Decides one review. What it throws or rejects with is a bug or a missing cache: HTTP 500, so that `failurePolicy` decides. */
export type Judge = (review: Review) => AdmissionDecision | Promise<AdmissionDecision>;

export interface ReviewListenerOptions {
  /** Judges by path. */
  readonly judges: ReadonlyMap<string, Judge>;
  /** Answers every other path. */
  readonly fallback: (request: IncomingMessage, response: ServerResponse) => void;
  readonly bodyLimits: BodyLimits;
  readonly concurrentRequests: number;
  readonly deadlineMs: number;
  readonly metrics: ReviewMetrics;
  readonly log: Log;
}

/** A failure of the request itself: answered by status code, because there is no review to answer. */
interface Failure {
  readonly code: number;
  readonly message: string;
}

type Answer = Failure | { readonly code: 200; readonly body: string };

const DEEPEST_JSON = 200;

/**
 * The listener of the admission port. Reviews are answered here and not by a router: at saturation that is three times
 * as fast (docs/decisions).
 */
export function reviewListener(
  options: ReviewListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { judges, fallback, metrics, log } = options;
  let underWay = 0;

  async function answer(path: string, judge: Judge, request: IncomingMessage): Promise<Answer> {
    if (underWay >= options.concurrentRequests) return { code: 429, message: 'Too many requests at once' };
    underWay += 1;
    try {
      return await answerReview(path, judge, request);
    } catch (error) {
      log.error({ err: error, path }, 'Could not decide');
      return { code: 500, message: 'Internal error' };
    } finally {
      underWay -= 1;
    }
  }

  async function answerReview(path: string, judge: Judge, request: IncomingMessage): Promise<Answer> {
    const startedAt = performance.now();
    const body = await readBody(request, options.bodyLimits);
    const json = parseBody(body);
    if ('code' in json) return json;
    const decoded = decodeReview(json.value);
    if (decoded.kind === 'notAReview') return { code: 400, message: decoded.message };
    if (decoded.kind === 'unacceptable') {
      const decision = refuse(400, { code: 'MalformedRequest', text: decoded.message, facts: {} });
      return { code: 200, body: encodeReview(decoded.uid, decision, undefined) };
    }
    const { review } = decoded;
    const decision = await withinTime(judge(review), options.deadlineMs);
    metrics.decided(path, review.request, decision, performance.now() - startedAt);
    return { code: 200, body: encodeReview(review.request.uid, decision, review.object) };
  }

  return (request, response) => {
    const path = pathOf(request.url);
    const judge = judges.get(path);
    if (judge === undefined) {
      fallback(request, response);
      return;
    }
    const problem = headProblem(request);
    const pending = problem === undefined ? answer(path, judge, request) : Promise.resolve(problem);
    void pending.then((result) => {
      metrics.answered(path, result.code);
      send(response, result);
    });
  };
}

function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function headProblem({ method, headers }: IncomingMessage): Failure | undefined {
  if (method !== 'POST') return { code: 405, message: 'Method not allowed: expected POST' };
  const type = headers['content-type']?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/json') return { code: 415, message: 'Unsupported content type: expected application/json' };
  const encoding = headers['content-encoding'] ?? 'identity';
  return encoding === 'identity' ? undefined : { code: 415, message: 'Unsupported content encoding: expected none' };
}

function parseBody(body: Body): Failure | { readonly value: unknown } {
  switch (body.kind) {
    case 'tooLarge':
      return { code: 413, message: `Request body is too large: at most ${body.limitBytes} bytes` };
    case 'overloaded':
      return { code: 429, message: 'Too many request bodies at once' };
    case 'aborted':
      return { code: 400, message: 'Request body is incomplete' };
    case 'body':
      return parseJson(body.bytes);
  }
}

function parseJson(bytes: Buffer): Failure | { readonly value: unknown } {
  if (!isUtf8(bytes)) return { code: 400, message: 'Request body is not valid UTF-8' };
  if (isDeeperThan(bytes, DEEPEST_JSON))
    return { code: 400, message: `Request body is nested deeper than ${DEEPEST_JSON}` };
  try {
    return { value: JSON.parse(bytes.toString('utf8')) as unknown };
  } catch {
    return { code: 400, message: 'Request body is not valid JSON' };
  }
}

/** Rejects when a decision that waits for something is not there in time. */
async function withinTime<T>(decision: T | Promise<T>, deadlineMs: number): Promise<T> {
  if (!(decision instanceof Promise)) return decision;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new Error(`Not decided within ${deadlineMs} ms`)), deadlineMs);
  try {
    return await Promise.race([decision, late]);
  } finally {
    clearTimeout(timer);
  }
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const body = 'body' in answer ? answer.body : JSON.stringify(failureStatus(answer.code, answer.message));
  response.writeHead(answer.code, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
  response.end(body);
}

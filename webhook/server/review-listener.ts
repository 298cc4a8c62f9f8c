import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { Log } from '#shared/runtime/log.ts';
import { nextTurn } from '#shared/runtime/next-turn.ts';
import type { ReadBody, ReviewBody } from '#webhook/request-body/body-budget.ts';
import { decodeReview, type Review } from './decode-review.ts';
import { encodeReview } from './encode-review.ts';
import { parseBody, parsedBytes } from '#webhook/request-body/parse-body.ts';
import type { PendingReviews } from './pending-reviews.ts';
import type { Refusals } from './refuse-unread.ts';
import { sendAnswer, type Answer } from './review-answer.ts';
import { headProblem, type Failure } from '#webhook/request-body/review-head.ts';
import type { ReviewMetrics } from './review-metrics.ts';
import { reviewStart, type ReviewStart } from '#webhook/request-body/review-start.ts';
import { createUidMemory } from './uid-memory.ts';
import { LateError, withinTime } from './within-time.ts';

/**
 * Decides one review. If it throws or rejects (a bug, or a cache that is not synced), the answer is HTTP 500, so that
 * `failurePolicy` decides.
 */
export type AdmissionHandler = (review: Review) => AdmissionDecision | Promise<AdmissionDecision>;

export interface ReviewListenerOptions {
  /** Handlers by path. */
  readonly handlers: ReadonlyMap<string, AdmissionHandler>;
  readonly refusals: Refusals;
  /** Answers all other paths. */
  readonly fallback: (request: IncomingMessage, response: ServerResponse) => void;
  readonly readBody: ReadBody;
  readonly pending: PendingReviews;
  /** Time from the last byte of a request to its answer. */
  readonly deadlineMs: number;
  readonly metrics: ReviewMetrics;
  readonly log: Log;
}

/** One request whose header has been read. */
interface Asked {
  readonly path: string;
  readonly handle: AdmissionHandler;
  readonly startedAt: number;
}

/** Reviews above this take some milliseconds to parse, and as long to decide. */
const MANY_VALUES = 3_000;
const FAILED: Failure = { code: 500, message: 'Internal error' };
const NO_JSON: Failure = { code: 400, message: 'Request body is not valid JSON' };

/**
 * The listener of the admission port. It answers reviews without a router, and without a promise unless the handler
 * needs one: both cost more than the decision itself (docs/decisions/0008). A body that begins as a review is always
 * answered as one: the entries ignore failures, so anything but an answer would admit what a tenant sent
 * (docs/decisions/0017).
 */
export function reviewListener(
  options: ReviewListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { handlers, fallback, readBody, refusals, metrics, log } = options;
  const uids = createUidMemory();

  function answerBody(asked: Asked, body: Exclude<ReviewBody, { kind: 'gone' }>): Answer | Promise<Answer> {
    if (body.kind === 'unread') return refuseStart(asked, body.start, refusals.failureOf(body.why));
    const json = parseBody(body.bytes);
    if (json === undefined) return refuseStart(asked, reviewStart(body.bytes), NO_JSON);
    const answerBy = performance.now() + options.deadlineMs;
    const heldBytes = parsedBytes(body.bytes.length, body.values);
    const decoded = decodeReview(json.value, { answerBy, heldBytes });
    if (decoded.kind === 'notAReview') {
      return refuseStart(asked, reviewStart(body.bytes), { code: 400, message: decoded.message });
    }
    if (decoded.kind === 'unacceptable') {
      return { code: 200, body: encodeReview(decoded.uid, refusals.malformed(decoded.message), undefined) };
    }
    const { request } = decoded.review;
    if (uids.isReused(request.uid, crc32(body.bytes))) metrics.uidUsedTwice(asked.path, request);
    return body.values > MANY_VALUES ? handleLater(asked, decoded.review) : handleReview(asked, decoded.review);
  }

  /** Yields between parsing and handling a large review, so that other answers are not delayed. */
  async function handleLater(asked: Asked, review: Review): Promise<Answer> {
    const share = options.pending.begin(review);
    if (share === undefined) return refuseStart(asked, startOf(review), BUSY);
    await nextTurn();
    share.end();
    return handleReview(asked, review);
  }

  function handleReview({ path, handle, startedAt }: Asked, review: Review): Answer | Promise<Answer> {
    const { request, object, answerBy } = review;
    const encode = (decision: AdmissionDecision): Answer => {
      metrics.decided(path, request, decision, performance.now() - startedAt);
      return { code: 200, body: encodeReview(request.uid, decision, object) };
    };
    const decision = handle(review);
    if (!(decision instanceof Promise)) return encode(decision);
    return withinTime(decision, answerBy - performance.now()).then(encode, (error: unknown) => {
      if (error instanceof LateError) return refuseStart({ path, handle, startedAt }, startOf(review), LATE);
      throw error;
    });
  }

  /** Answers a review that cannot be read or decided in time, based on its first bytes. */
  function refuseStart({ path }: Asked, start: ReviewStart | undefined, failure: Failure): Answer {
    const decision = start === undefined ? undefined : refusals.unread(path, start, failure);
    if (start === undefined || decision === undefined) return failure;
    metrics.decidedUnread(path, start, decision);
    return { code: 200, body: encodeReview(start.uid, decision, undefined) };
  }

  /** Answers 500 for an error, thrown or rejected. */
  function guarded(asked: Asked, body: Exclude<ReviewBody, { kind: 'gone' }>): Answer | Promise<Answer> {
    const failed = (error: unknown): Answer => {
      log.error({ err: error, path: asked.path }, 'Decision failed');
      return FAILED;
    };
    try {
      const answer = answerBody(asked, body);
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  }

  function serveReview(asked: Asked, request: IncomingMessage, respond: (answer: Answer) => void): void {
    const problem = headProblem(request);
    if (problem !== undefined) {
      respond(problem);
      return;
    }
    readBody(request, (body) => {
      if (body.kind === 'gone') return;
      const answer = guarded(asked, body);
      if (answer instanceof Promise) void answer.then(respond);
      else respond(answer);
    });
  }

  return (request, response) => {
    const path = pathOf(request.url);
    const handle = handlers.get(path);
    if (handle === undefined) {
      fallback(request, response);
      return;
    }
    serveReview({ path, handle, startedAt: performance.now() }, request, (answer) => {
      metrics.answered(path, answer.code);
      sendAnswer(response, answer);
    });
  };
}

const LATE: Failure = { code: 429, message: 'Not decided in time' };
const BUSY: Failure = { code: 429, message: 'Too many large requests at once' };

function startOf({ request }: Review): ReviewStart {
  return { uid: request.uid, namespace: request.namespace, username: request.requester.name };
}

function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

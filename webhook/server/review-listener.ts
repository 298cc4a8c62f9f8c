import type { ServerResponse, IncomingMessage } from 'node:http';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { nextTurn } from '#shared/runtime/turns/turns.ts';
import type { ReviewBody, ReadBody } from '#webhook/request-body/body-budget.ts';
import { reviewStart, type ReviewStart, UNREAD_IN_PODS } from '#webhook/request-body/review-scan.ts';
import { parseBody, parsedBytes, decodeReview, type Review, encodeReview, headProblem } from './admission-review.ts';
import { FAILURES, type HttpFailure, ERRORS, LOG } from '#webhook/messages.ts';
import { endIfUnread, type Handler } from '#shared/http/connections.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { PendingReviews } from '#webhook/request-body/fair-queue.ts';
import type { Refusals } from './refuse-unread.ts';
import type { ReviewMetrics } from './review-metrics.ts';
import type { Log } from '#shared/runtime/log.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';

/**
 * Decides one review. If it throws or rejects (a bug, or a cache that is not synced), the answer is HTTP 500, so that
 * `failurePolicy` decides.
 */
export type AdmissionHandler = (review: Review) => AdmissionDecision | Promise<AdmissionDecision>;

export interface ReviewListenerOptions {
  /** Handlers by path. */
  readonly handlers: ReadonlyMap<string, AdmissionHandler>;
  /** Answers all other paths. */
  readonly fallback: Handler;
  readonly readBody: ReadBody;
  readonly refusals: Refusals;
  readonly pending: PendingReviews;
  /** Time from the last byte of a request to its answer. */
  readonly deadlineMs: number;
  readonly metrics: ReviewMetrics;
  readonly log: Log;
}

/** Entries for pods. Templates are compared as a whole. */
const POD_PATHS: readonly string[] = [WEBHOOK_PATHS.mutate, WEBHOOK_PATHS.validate, WEBHOOK_PATHS.quota];
const NOTHING: readonly Buffer[] = [];

const FAILED: HttpFailure = { code: 500, message: 'Internal error' };

/**
 * The listener of the admission port. It answers reviews without a router, and without a promise unless the handler
 * needs one: both cost more than the decision itself (docs/contributing/decisions/webhook-requests.md).
 */
export function reviewListener(options: ReviewListenerOptions): Handler {
  const { handlers, fallback, readBody, metrics, log } = options;
  const answerBody = createAnswerer(options);

  /** Answers 500 for an error, thrown or rejected. */
  function guarded(asked: IncomingReview, body: ArrivedBody): ReviewAnswer | Promise<ReviewAnswer> {
    const failed = (error: unknown): ReviewAnswer => {
      log.error({ err: error, path: asked.path }, LOG.decisionFailed);
      return FAILED;
    };
    try {
      const answer = answerBody(asked, body);
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  }

  function serveReview(asked: IncomingReview, request: IncomingMessage, respond: (answer: ReviewAnswer) => void): void {
    const problem = headProblem(request);
    if (problem !== undefined) {
      respond(problem);
      return;
    }
    const unread = POD_PATHS.includes(asked.path) ? UNREAD_IN_PODS : NOTHING;
    const answerWhole = (body: ReviewBody): void => {
      if (body.kind === 'gone') return;
      const answer = guarded(asked, body);
      if (answer instanceof Promise) void answer.then(respond);
      else respond(answer);
    };
    readBody(request, answerWhole, unread);
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

function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** One request whose header has been read. */
interface IncomingReview {
  readonly path: string;
  readonly handle: AdmissionHandler;
  readonly startedAt: number;
}

/** The received part of a body. */
type ArrivedBody = Exclude<ReviewBody, { readonly kind: 'gone' }>;

/** Larger reviews take some milliseconds to parse, and as long to decide. */
const MANY_VALUES = 3_000;
const NO_JSON = FAILURES.notJson();
const LATE = FAILURES.late();
const BUSY = FAILURES.tooManyAtOnce();

/**
 * Answers a body: parse, decode, handle, encode. A body that begins as a review is always answered as one: the entries
 * ignore failures, so anything but an answer would admit what a tenant sent (docs/contributing/decisions/webhook-requests.md). Throws or rejects if
 * the handler does.
 */
function createAnswerer({ refusals, pending, deadlineMs, metrics }: ReviewListenerOptions) {
  const uids = createUidMemory();

  function answerBody(asked: IncomingReview, body: ArrivedBody): ReviewAnswer | Promise<ReviewAnswer> {
    if (body.kind === 'unread') return refuseStart(asked, body.start, refusals.failureOf(body.why));
    const json = parseBody(body.bytes);
    if (json === undefined) return refuseStart(asked, reviewStart(body.bytes), NO_JSON);
    const answerBy = performance.now() + deadlineMs;
    const heldBytes = parsedBytes(body.bytes.length, body.values);
    const decoded = decodeReview(json, { answerBy, heldBytes });
    if (decoded.kind === 'notAReview') {
      return refuseStart(asked, reviewStart(body.bytes), { code: 400, message: decoded.message });
    }
    if (decoded.kind === 'invalidRequest') {
      return { code: 200, body: encodeReview(decoded.uid, refusals.malformed(decoded.message), undefined) };
    }
    const { request } = decoded.review;
    if (uids.isReused(request.uid, body.fingerprint)) metrics.uidUsedTwice(asked.path, request);
    return body.values > MANY_VALUES ? handleLater(asked, decoded.review) : handleReview(asked, decoded.review);
  }

  /** Yields between parsing and handling a large review, so that other answers are not delayed. */
  async function handleLater(asked: IncomingReview, review: Review): Promise<ReviewAnswer> {
    const share = pending.begin(review);
    if (share === undefined) return refuseStart(asked, startOf(review), BUSY);
    await nextTurn();
    share.end();
    return handleReview(asked, review);
  }

  function handleReview(
    { path, handle, startedAt }: IncomingReview,
    review: Review,
  ): ReviewAnswer | Promise<ReviewAnswer> {
    const { request, object, answerBy } = review;
    const encode = (decision: AdmissionDecision): ReviewAnswer => {
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
  function refuseStart({ path }: IncomingReview, start: ReviewStart | undefined, failure: HttpFailure): ReviewAnswer {
    const decision = start === undefined ? undefined : refusals.unread(path, start, failure);
    if (start === undefined || decision === undefined) return failure;
    metrics.decidedUnread(path, start, decision);
    return { code: 200, body: encodeReview(start.uid, decision, undefined) };
  }

  return answerBody;
}

function startOf({ request }: Review): ReviewStart {
  return { uid: request.uid, namespace: request.namespace, username: request.requester.name };
}

/** An encoded AdmissionReview, or an HTTP failure if there is no review to answer. */
type ReviewAnswer = HttpFailure | { readonly code: 200; readonly body: string };

/** Writes an answer, unless the client has disconnected. */
function sendAnswer(response: ServerResponse, answer: ReviewAnswer): void {
  if (response.destroyed) return;
  const body = 'body' in answer ? answer.body : JSON.stringify(failureStatus(answer.code, answer.message));
  endIfUnread(response);
  response.writeHead(answer.code, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(body)]);
  response.end(body);
}

/** Remembers the content of each request uid. */
interface UidMemory {
  /** Whether this uid came recently with other content; also remembers the content. */
  isReused(uid: string, fingerprint: number): boolean;
}

/** Up to twice this many uids are remembered: some ten seconds at 1,000 reviews a second. */
const GENERATION = 8_192;

/** Two generations. The older one is dropped as a whole, so nothing searches for uids to forget. */
export function createUidMemory(generation = GENERATION): UidMemory {
  let older = new Map<string, number>();
  let newer = new Map<string, number>();
  return {
    isReused: (uid, fingerprint) => {
      const known = newer.get(uid) ?? older.get(uid);
      if (newer.size >= generation) {
        older = newer;
        newer = new Map();
      }
      newer.set(uid, fingerprint);
      return known !== undefined && known !== fingerprint;
    },
  };
}

/** A promise did not settle in time. */
class LateError extends Error {
  override readonly name = 'LateError';
}

/** Rejects with a `LateError` when the promise does not settle in time; its later result is ignored. */
export function withinTime<T>(pending: Promise<T>, deadlineMs: number): Promise<T> {
  return new Promise((resolve, reject) => {
    const ms = Math.max(0, Math.round(deadlineMs));
    const timer = setTimeout(() => reject(new LateError(ERRORS.tooLate(ms))), ms);
    void pending.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

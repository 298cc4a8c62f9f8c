import type { IncomingMessage, ServerResponse } from 'node:http';
import { crc32 } from 'node:zlib';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { refuse } from '#shared/domain/admission/decision.ts';
import { endIfUnread } from '#shared/http/linger.ts';
import type { Body } from '#shared/http/read-body.ts';
import { failureStatus } from '#shared/http/status.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { BodyTurn, CollectInTurn } from './body-turns.ts';
import { decodeReview, type Review } from './decode-review.ts';
import { encodeReview } from './encode-review.ts';
import { beginningOf, headProblem, parseBody, type Failure } from './review-body.ts';
import type { ReviewMetrics } from './review-metrics.ts';
import { uidOfBeginning, type JudgeTooLarge } from './too-large.ts';
import { createUidMemory } from './uid-memory.ts';
import { withinTime } from './within-time.ts';

/** Decides one review. What it throws or rejects with is a bug or a missing cache: HTTP 500, so that `failurePolicy` decides. */
export type Judge = (review: Review) => AdmissionDecision | Promise<AdmissionDecision>;

export interface ReviewListenerOptions {
  /** Judges by path. */
  readonly judges: ReadonlyMap<string, Judge>;
  readonly judgeTooLarge: JudgeTooLarge;
  /** Answers every other path. */
  readonly fallback: (request: IncomingMessage, response: ServerResponse) => void;
  readonly collect: CollectInTurn;
  readonly concurrentRequests: number;
  readonly deadlineMs: number;
  readonly metrics: ReviewMetrics;
  readonly log: Log;
}

type Answer = Failure | { readonly code: 200; readonly body: string };

/** One route of the admission port. */
interface Route {
  readonly path: string;
  readonly judge: Judge;
}

/** A request that has been read. */
interface Held {
  readonly body: Body;
  readonly turn: BodyTurn;
  readonly startedAt: number;
}

const TOO_MANY: Failure = { code: 429, message: 'Too many requests at once' };
const FAILED: Failure = { code: 500, message: 'Internal error' };

/**
 * The listener of the admission port. Reviews are answered here and not by a router, and without a promise unless the
 * judge needs one: both cost more than the decision itself (docs/decisions/0008).
 */
export function reviewListener(
  options: ReviewListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { judges, fallback, metrics, log } = options;
  const uids = createUidMemory();
  let underWay = 0;

  function answerReview({ path, judge }: Route, { body, turn, startedAt }: Held): Answer | Promise<Answer> {
    const json = parseBody(body, turn);
    if ('code' in json) return json.code === 413 ? refuseUnread(path, body, json) : json;
    const decoded = decodeReview(json.value);
    if (decoded.kind === 'notAReview') return { code: 400, message: decoded.message };
    if (decoded.kind === 'unacceptable') return malformed(decoded.uid, decoded.message);
    const { request, object } = decoded.review;
    if (body.kind === 'body' && uids.isReused(request.uid, crc32(body.bytes))) metrics.uidUsedTwice(path, request);
    const encode = (decision: AdmissionDecision): Answer => {
      metrics.decided(path, request, decision, performance.now() - startedAt);
      return { code: 200, body: encodeReview(request.uid, decision, object) };
    };
    const decision = judge(decoded.review);
    return decision instanceof Promise ? withinTime(decision, options.deadlineMs).then(encode) : encode(decision);
  }

  /** A review that is too large is answered by its beginning where it must not pass unread. */
  function refuseUnread(path: string, body: Body, failure: Failure): Answer {
    const uid = uidOfBeginning(beginningOf(body));
    const decision = uid === undefined ? undefined : options.judgeTooLarge(path, failure.message);
    if (uid === undefined || decision === undefined) return failure;
    metrics.decidedUnread(path, uid, decision);
    return { code: 200, body: encodeReview(uid, decision, undefined) };
  }

  /** What it throws, now or later, is answered 500. */
  function guarded(route: Route, held: Held): Answer | Promise<Answer> {
    const failed = (error: unknown): Answer => {
      log.error({ err: error, path: route.path }, 'Could not decide');
      return FAILED;
    };
    try {
      const answer = answerReview(route, held);
      return answer instanceof Promise ? answer.catch(failed) : answer;
    } catch (error) {
      return failed(error);
    }
  }

  function serveReview(route: Route, request: IncomingMessage, respond: (answer: Answer) => void): void {
    const problem = headProblem(request) ?? (underWay < options.concurrentRequests ? undefined : TOO_MANY);
    if (problem !== undefined) {
      respond(problem);
      return;
    }
    underWay += 1;
    const startedAt = performance.now();
    options.collect(request, (body, turn) => {
      const finish = (answer: Answer): void => {
        underWay -= 1;
        turn.end();
        respond(answer);
      };
      const answer = guarded(route, { body, turn, startedAt });
      if (answer instanceof Promise) void answer.then(finish);
      else finish(answer);
    });
  }

  return (request, response) => {
    const path = pathOf(request.url);
    const judge = judges.get(path);
    if (judge === undefined) {
      fallback(request, response);
      return;
    }
    serveReview({ path, judge }, request, (answer) => {
      metrics.answered(path, answer.code);
      send(response, answer);
    });
  };
}

function pathOf(url = ''): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

/** It is a review, so it is answered as one. */
function malformed(uid: string, message: string): Answer {
  const decision = refuse(400, { code: 'MalformedRequest', text: message, facts: {} });
  return { code: 200, body: encodeReview(uid, decision, undefined) };
}

function send(response: ServerResponse, answer: Answer): void {
  if (response.destroyed) return;
  const body = 'body' in answer ? answer.body : JSON.stringify(failureStatus(answer.code, answer.message));
  endIfUnread(response);
  response.writeHead(answer.code, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(body)]);
  response.end(body);
}

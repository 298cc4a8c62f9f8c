import type { IncomingMessage, ServerResponse } from 'node:http';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { ReadBody, ReviewBody } from '#webhook/request-body/body-budget.ts';
import { headProblem } from '#webhook/request-body/review-start.ts';
import { UNREAD_IN_PODS } from '#webhook/request-body/review-scan.ts';
import { LOG, type Failure } from '#webhook/messages.ts';
import {
  createAnswerer,
  type AdmissionHandler,
  type AnswererOptions,
  type ArrivedBody,
  type Asked,
  sendAnswer,
  type Answer,
} from './review-answerer.ts';

export interface ReviewListenerOptions extends AnswererOptions {
  /** Handlers by path. */
  readonly handlers: ReadonlyMap<string, AdmissionHandler>;
  /** Answers all other paths. */
  readonly fallback: (request: IncomingMessage, response: ServerResponse) => void;
  readonly readBody: ReadBody;
  readonly log: Log;
}

/** Entries for pods. Templates are compared as a whole. */
const POD_PATHS: readonly string[] = [WEBHOOK_PATHS.mutate, WEBHOOK_PATHS.validate, WEBHOOK_PATHS.quota];
const NOTHING: readonly Buffer[] = [];

const FAILED: Failure = { code: 500, message: 'Internal error' };

/**
 * The listener of the admission port. It answers reviews without a router, and without a promise unless the handler
 * needs one: both cost more than the decision itself (docs/decisions/0008).
 */
export function reviewListener(
  options: ReviewListenerOptions,
): (request: IncomingMessage, response: ServerResponse) => void {
  const { handlers, fallback, readBody, metrics, log } = options;
  const answerBody = createAnswerer(options);

  /** Answers 500 for an error, thrown or rejected. */
  function guarded(asked: Asked, body: ArrivedBody): Answer | Promise<Answer> {
    const failed = (error: unknown): Answer => {
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

  function serveReview(asked: Asked, request: IncomingMessage, respond: (answer: Answer) => void): void {
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

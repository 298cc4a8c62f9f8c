import type { IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Express } from 'express';
import express from 'express';
import { serve, type Server, type TlsOptions } from '#shared/http/serve.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import { failureStatus } from '#shared/http/status.ts';
import { endIfUnread, type Handler } from '#shared/http/connections.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import { createBodyReader, type ReadBody, type ReviewBody } from './request-body/body-budget.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { createHandlers, type HandlerSources } from './handlers/handlers.ts';
import { createRefusals } from './server/refuse-unread.ts';
import { createReviewMetrics } from './server/review-metrics.ts';
import { FAILURES, LOG, type HttpFailure } from './messages.ts';
import { headProblem } from './server/admission-review.ts';
import { UNREAD_IN_PODS } from './request-body/review-scan.ts';
import {
  createAnswerer,
  type AdmissionHandler,
  type AnswererOptions,
  type ArrivedBody,
  type IncomingReview,
  sendAnswer,
  type ReviewAnswer,
} from './server/review-answerer.ts';

export interface AdmissionPortParts {
  readonly sources: HandlerSources;
  readonly tls: TlsOptions;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Limits of a review, not counting managedFields. Ten containers with fifty references to Secrets each are 3,000 values
 * (6,000 for both objects of an update); the most expensive reviews within these limits take about 15 ms of CPU time
 * (docs/decisions/0010).
 */
const REVIEW_LIMITS = { depth: 200, values: 10_500 } as const;

/** Starts answering reviews. Rejects with a message when it cannot listen on the port. */
export function openAdmissionPort(
  configuration: WebhookConfiguration,
  { sources, tls, metrics, log }: AdmissionPortParts,
): Promise<Server> {
  const { host, port, mode, bodyLimitBytes, connections } = configuration;
  const deadlineMs = configuration.requestSeconds * 1_000;
  const bounds = { maxBytes: bodyLimitBytes, limits: REVIEW_LIMITS };
  const answer = reviewListener({
    handlers: createHandlers(sources),
    refusals: createRefusals(mode, bounds),
    fallback: fallbackApp(log),
    readBody: createBodyReader({ ...bounds, patienceMs: deadlineMs }),
    pending: sources.pending,
    deadlineMs,
    metrics: createReviewMetrics(metrics, log),
    log,
  });
  return serve({
    host,
    port,
    handler: requireClientName(configuration.tls.clientNames, answer),
    tls,
    maxConnections: connections,
  });
}

/** The answer of the admission port to every unknown path: 404, without echoing the request. */
function fallbackApp(log: Log): Express {
  const app = express();
  app.disable('x-powered-by');
  app.use(() => {
    const { code, message } = FAILURES.pathNotFound();
    throw new RequestProblem(code, message);
  });
  app.use(problemHandler(log));
  return app;
}

/**
 * Accepts only clients whose certificate has one of these common names; all others get 403 before the body is read.
 * The TLS handshake has verified the certificate. An empty list accepts every client.
 */
export function requireClientName(names: readonly string[], handler: Handler): Handler {
  if (names.length === 0) return handler;
  const allowed = new Set(names);
  const verdicts = new WeakMap<object, boolean>();
  return (request, response) => {
    const { socket } = request;
    const isAllowed = verdicts.get(socket) ?? allowed.has(callerOf(socket) ?? '');
    verdicts.set(socket, isAllowed);
    if (isAllowed) handler(request, response);
    else refuse(response);
  };
}

/** The common name, which Kubernetes also uses as the user name of a client certificate. */
function callerOf(socket: unknown): string | undefined {
  if (!(socket instanceof TLSSocket)) return undefined;
  const subject = socket.getPeerX509Certificate()?.subject ?? '';
  return /^CN=(.*)$/m.exec(subject)?.[1];
}

function refuse(response: ServerResponse): void {
  const body = JSON.stringify(
    failureStatus(403, 'Forbidden: the common name of the client certificate is not in clientNames'),
  );
  endIfUnread(response);
  response.writeHead(403, ['Content-Type', 'application/json', 'Content-Length', Buffer.byteLength(body)]);
  response.end(body);
}

export interface ReviewListenerOptions extends AnswererOptions {
  /** Handlers by path. */
  readonly handlers: ReadonlyMap<string, AdmissionHandler>;
  /** Answers all other paths. */
  readonly fallback: Handler;
  readonly readBody: ReadBody;
  readonly log: Log;
}

/** Entries for pods. Templates are compared as a whole. */
const POD_PATHS: readonly string[] = [WEBHOOK_PATHS.mutate, WEBHOOK_PATHS.validate, WEBHOOK_PATHS.quota];
const NOTHING: readonly Buffer[] = [];

const FAILED: HttpFailure = { code: 500, message: 'Internal error' };

/**
 * The listener of the admission port. It answers reviews without a router, and without a promise unless the handler
 * needs one: both cost more than the decision itself (docs/decisions/0008).
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

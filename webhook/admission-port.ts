import express, { type Express } from 'express';
import type { ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { serve, type Server, type TlsOptions } from '#shared/http/serve.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { problemHandler, RequestProblem } from '#shared/http/problem.ts';
import { failureStatus } from '#shared/http/status.ts';
import { endIfUnread, type Handler } from '#shared/http/connections.ts';
import { createBodyReader } from './request-body/body-budget.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { createHandlers, type HandlerSources } from './handlers/handlers.ts';
import { createRefusals } from './server/refuse-unread.ts';
import { createReviewMetrics } from './server/review-metrics.ts';
import { FAILURES } from './messages.ts';
import { reviewListener } from './server/review-listener.ts';

export interface AdmissionPortParts {
  readonly sources: HandlerSources;
  readonly tls: TlsOptions;
  readonly metrics: Metrics;
  readonly log: Log;
}

/**
 * Limits of a review, not counting managedFields. Ten containers with fifty references to Secrets each are 3,000 values
 * (6,000 for both objects of an update); the most expensive reviews within these limits take about 15 ms of CPU time
 * (docs/contributing/decisions/webhook-requests.md).
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

import { serve, type Server, type TlsOptions } from '#shared/http/serve.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { createBodyReader } from './request-body/body-budget.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { fallbackApp } from './server/fallback-app.ts';
import { createHandlers, type HandlerSources } from './handlers/handlers.ts';
import { requireClientName } from './server/require-client-name.ts';
import { createRefusals } from './server/refuse-unread.ts';
import { reviewListener } from './server/review-listener.ts';
import { createReviewMetrics } from './server/review-metrics.ts';

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

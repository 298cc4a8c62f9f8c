import { serve, type Server, type TlsOptions } from '#shared/http/serve.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import { createBodyTurns } from './body-turns.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { fallbackApp } from './fallback-app.ts';
import { createJudges, type JudgeSources } from './judges.ts';
import { onlyCallers } from './only-callers.ts';
import { reviewListener } from './review-listener.ts';
import { createReviewMetrics } from './review-metrics.ts';
import { judgeTooLarge } from './too-large.ts';

export interface AdmissionPortParts {
  readonly sources: JudgeSources;
  readonly tls: TlsOptions;
  readonly metrics: Metrics;
  readonly log: Log;
}

/** Each carries one request at a time; the rest is for those about to be shed, which is told them in an answer. */
const CONNECTIONS_PER_REQUEST = 1.25;

/** Starts to answer reviews. Rejects with a sentence when the port cannot be had. */
export function openAdmissionPort(
  configuration: WebhookConfiguration,
  { sources, tls, metrics, log }: AdmissionPortParts,
): Promise<Server> {
  const { host, port, mode, bodyLimitBytes, concurrentRequests } = configuration;
  const deadlineMs = configuration.requestSeconds * 1_000;
  const answer = reviewListener({
    judges: createJudges(sources),
    judgeTooLarge: judgeTooLarge(mode),
    fallback: fallbackApp(log),
    collect: createBodyTurns({ maxBytes: bodyLimitBytes, patienceMs: deadlineMs / 2 }),
    concurrentRequests,
    deadlineMs,
    metrics: createReviewMetrics(metrics, log),
    log,
  });
  return serve({
    host,
    port,
    handler: onlyCallers(configuration.tls.clientNames, answer),
    tls,
    maxConnections: Math.ceil(concurrentRequests * CONNECTIONS_PER_REQUEST),
  });
}

import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';
import type { ReviewStart } from '#webhook/request-body/review-scan.ts';
import { LOG } from '#webhook/messages.ts';

/** Counts and logs answers. */
export interface ReviewMetrics {
  decided(path: string, request: AdmissionRequest, decision: AdmissionDecision, elapsedMs: number): void;
  /** The same for a review of which only the beginning was read. */
  decidedUnread(path: string, start: ReviewStart, decision: AdmissionDecision): void;
  answered(path: string, code: number): void;
  /** Two different requests with one uid, which the API server never sends. */
  uidUsedTwice(path: string, request: AdmissionRequest): void;
}

/** Each refusal is logged; allowed requests, which are nearly all, only at level debug. */
export function createReviewMetrics(metrics: Metrics, log: Log): ReviewMetrics {
  const { requests, durations, decisions, repeatedUids } = registerMetrics(metrics);
  const logUnread = onceASecond((fields, more) => log.info({ ...fields, more }, LOG.unread));

  return {
    decided: (webhook, request, decision, elapsedMs) => {
      const { operation } = request;
      // Webhooks, codes and operations come from fixed sets, so there are few series.
      durations.series({ webhook, operation, allowed: String(decision.kind === 'allowed') }).observe(elapsedMs / 1_000);
      decisions.series({ webhook, reason: decision.because.code }).add();
      if (decision.kind === 'refused') log.info(describe(request, decision, elapsedMs), LOG.refused);
      else if (log.isLevelEnabled('debug')) log.debug(describe(request, decision, elapsedMs), LOG.allowed);
    },
    decidedUnread: (webhook, start, { because }) => {
      decisions.series({ webhook, reason: because.code }).add();
      logUnread({ ...start, path: webhook, because });
    },
    answered: (webhook, code) => requests.series({ webhook, code }).add(),
    uidUsedTwice: (webhook, request) => {
      repeatedUids.add({ webhook });
      log.warn(identify(request), LOG.uidReused);
    },
  };
}

function registerMetrics(metrics: Metrics) {
  return {
    requests: metrics.counter('plimsoll_webhook_requests_total', 'Admission requests by path and HTTP status', [
      'webhook',
      'code',
    ]),
    durations: metrics.histogram(
      'plimsoll_webhook_request_duration_seconds',
      'Time from the first byte of an admission request to its decision',
      ['webhook', 'operation', 'allowed'],
    ),
    decisions: metrics.counter('plimsoll_webhook_decisions_total', 'Admission decisions by path and reason', [
      'webhook',
      'reason',
    ]),
    repeatedUids: metrics.counter(
      'plimsoll_webhook_repeated_uids_total',
      'Requests that reused a uid with different content',
      ['webhook'],
    ),
  };
}

/** Writes at most one entry per second, with the number of entries skipped: there may be thousands per second. */
function onceASecond(write: (fields: object, more: number) => void): (fields: object) => void {
  let lastAt = Number.NEGATIVE_INFINITY;
  let more = 0;
  return (fields) => {
    if (performance.now() - lastAt < 1_000) {
      more += 1;
      return;
    }
    lastAt = performance.now();
    write(fields, more);
    more = 0;
  };
}

function describe(request: AdmissionRequest, decision: AdmissionDecision, elapsedMs: number) {
  return {
    ...identify(request),
    because: decision.because,
    milliseconds: Math.round(elapsedMs * 1_000) / 1_000,
  };
}

function identify({ uid, operation, resource, subresource, namespace, name, requester }: AdmissionRequest) {
  return {
    uid,
    operation,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    pod: { namespace, name },
    user: requester.name,
  };
}

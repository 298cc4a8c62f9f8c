import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import type { Log } from '#shared/runtime/log.ts';
import type { Metrics } from '#shared/runtime/metrics.ts';

/** How answers are counted and logged. */
export interface ReviewMetrics {
  decided(path: string, request: AdmissionRequest, decision: AdmissionDecision, elapsedMs: number): void;
  answered(path: string, code: number): void;
}

/** Refusals are logged one by one; what is allowed only on level debug, for it is nearly everything. */
export function createReviewMetrics(metrics: Metrics, log: Log): ReviewMetrics {
  const requests = metrics.counter('plimsoll_webhook_requests_total', 'Admission requests by path and HTTP status', [
    'webhook',
    'code',
  ]);
  const durations = metrics.histogram(
    'plimsoll_webhook_request_duration_seconds',
    'From the first byte of an admission request to its decision',
    ['webhook', 'operation', 'allowed'],
  );
  const decisions = metrics.counter('plimsoll_webhook_decisions_total', 'Admission decisions by path and reason', [
    'webhook',
    'reason',
  ]);

  return {
    decided: (webhook, request, decision, elapsedMs) => {
      const allowed = String(decision.kind === 'allowed');
      durations.observe(elapsedMs / 1_000, { webhook, operation: request.operation, allowed });
      decisions.add({ webhook, reason: decision.because.code });
      if (decision.kind === 'refused') log.info(describe(request, decision, elapsedMs), 'Request refused');
      else if (log.isLevelEnabled('debug')) log.debug(describe(request, decision, elapsedMs), 'Request allowed');
    },
    answered: (webhook, code) => requests.add({ webhook, code }),
  };
}

function describe(request: AdmissionRequest, decision: AdmissionDecision, elapsedMs: number) {
  const { uid, operation, resource, subresource, namespace, name, requester } = request;
  return {
    uid,
    operation,
    resource: subresource === '' ? resource : `${resource}/${subresource}`,
    pod: { namespace, name },
    user: requester.name,
    because: decision.because,
    milliseconds: Math.round(elapsedMs * 1_000) / 1_000,
  };
}

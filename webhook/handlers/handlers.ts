import { asDryRun } from '#shared/domain/admission/as-dry-run.ts';
import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import { MUTATION, VALIDATION, type PodSources } from './decide-then-confirm.ts';
import { checkBeforeCharge, checkNothing } from './check-before-charge.ts';
import { priorityClassHandler, type ClassSources } from './priority-class-handler.ts';
import { deletionHandler, evictionHandler, type DisruptionSources } from './disruption-handlers.ts';
import { podHandler } from './pod-handler.ts';
import { quotaHandler, type QuotaSources } from './quota-handler.ts';
import { templateHandler } from './template-handler.ts';
import { markOneOfSeveral } from './one-of-several.ts';
import type { PendingReviews } from '#webhook/server/pending-reviews.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';
import type { RecordDenial } from '#webhook/events/denial-events.ts';
import { withValidNames } from './valid-names.ts';
import { limitConcurrency } from './limit-concurrency.ts';

export interface HandlerSources extends PodSources, DisruptionSources, QuotaSources, ClassSources {
  readonly recordDenial: RecordDenial;
  /** Limit of reviews that wait for a quota to be charged; separate, so that they do not block other reviews. */
  readonly pendingOnLedger: PendingReviews;
  /** Limit of evictions by caller; apart from other reviews, for these wait for the API server too. */
  readonly evictionLanes: PendingReviews;
}

/** The handlers by path. */
export function createHandlers(sources: HandlerSources): ReadonlyMap<string, AdmissionHandler> {
  const checkFirst = sources.mode === 'DryRun' ? checkNothing : checkBeforeCharge(sources);
  const handlers: readonly (readonly [string, AdmissionHandler])[] = [
    [WEBHOOK_PATHS.mutate, podHandler(sources, MUTATION)],
    [WEBHOOK_PATHS.validate, withValidNames(podHandler(sources, VALIDATION))],
    [WEBHOOK_PATHS.quota, withValidNames(limitConcurrency(quotaHandler(sources, checkFirst), sources.pendingOnLedger))],
    [WEBHOOK_PATHS.templates, templateHandler(sources)],
    [WEBHOOK_PATHS.classes, limitConcurrency(priorityClassHandler(sources), sources.pending)],
    [WEBHOOK_PATHS.evictions, limitConcurrency(evictionHandler(sources), sources.evictionLanes)],
    [WEBHOOK_PATHS.deletions, limitConcurrency(deletionHandler(sources), sources.pending)],
  ];
  const inMode = (handle: AdmissionHandler) =>
    sources.mode === 'DryRun' ? inDryRun(handle) : recording(handle, sources.recordDenial);
  return new Map(handlers.map(([path, handle]) => [path, marked(path, inMode(handle))]));
}

function marked(path: string, handle: AdmissionHandler): AdmissionHandler {
  return (review) => {
    const mark = (decision: AdmissionDecision) => markOneOfSeveral(path, review.request, decision);
    const decision = handle(review);
    return decision instanceof Promise ? decision.then(mark) : mark(decision);
  };
}

function recording(handle: AdmissionHandler, record: RecordDenial): AdmissionHandler {
  return (review) => {
    const decision = handle(review);
    if (decision instanceof Promise)
      void decision.then(
        (decided) => record(review.request, decided),
        () => undefined,
      );
    else record(review.request, decision);
    return decision;
  };
}

/**
 * DryRun does not apply to the rules for removals by our own accounts: these are safety rules, not policies under
 * trial.
 */
function inDryRun(handle: AdmissionHandler): AdmissionHandler {
  return (review) => {
    const decision = handle(review);
    if (isOwnRemoval(review.request)) return decision;
    return decision instanceof Promise ? decision.then(asDryRun) : asDryRun(decision);
  };
}

function isOwnRemoval({ requester, subresource, operation }: AdmissionRequest): boolean {
  return OWN_ACCOUNTS.includes(requester.name) && (subresource === 'eviction' || operation === 'DELETE');
}

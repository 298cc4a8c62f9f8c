import { type AdmissionDecision, withoutWait } from '#shared/domain/admission/decision.ts';
import { asDryRun, overloaded, malformedField } from '#shared/domain/admission/refusals.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import type { CallerLanes } from '#webhook/request-body/caller-lanes.ts';
import type { PendingReviews, TakenShare } from '#webhook/request-body/fair-queue.ts';
import type { AdmissionHandler } from '#webhook/server/review-listener.ts';
import type { RecordDenial } from '#webhook/events/denial-events.ts';
import { ERRORS } from '#webhook/messages.ts';
import { subdomainFaults } from '#shared/domain/labels/label-selector.ts';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import type { Review } from '#webhook/server/admission-review.ts';
import { MUTATION, VALIDATION, type PodSources, podHandler, templateHandler } from './pod-handlers.ts';
import { type BudgetSources, withBudgets } from './budget-handler.ts';
import { withGroups } from './group-quota-handler.ts';
import { checkBeforeCharge, checkNothing, quotaHandler, type QuotaSources } from './quota-handler.ts';
import { priorityClassHandler, type ClassSources } from './class-handler.ts';
import { acceptDeletion, limitHandler } from './limit-handlers.ts';
import { deletionHandler, evictionHandler, type DisruptionSources } from './disruption-handlers.ts';

export interface HandlerSources extends PodSources, DisruptionSources, QuotaSources, ClassSources, BudgetSources {
  readonly recordDenial: RecordDenial;
  /** Limit of reviews that wait for a quota to be charged; separate, so that they do not block other reviews. */
  readonly pendingOnLedger: PendingReviews;
  /** Limit of evictions by caller; separate from other reviews, because evictions wait for the API server too. */
  readonly evictionLanes: CallerLanes;
}

/** The handlers by path. */
export function createHandlers(sources: HandlerSources): ReadonlyMap<string, AdmissionHandler> {
  const checkFirst = sources.mode === 'DryRun' ? checkNothing : checkBeforeCharge(sources);
  const handlers: readonly (readonly [string, AdmissionHandler])[] = [
    [WEBHOOK_PATHS.mutate, podHandler(sources, MUTATION)],
    [WEBHOOK_PATHS.validate, withValidNames(podHandler(sources, VALIDATION))],
    [
      WEBHOOK_PATHS.quota,
      withValidNames(limitConcurrency(withGroups(quotaHandler(sources, checkFirst), sources), sources.pendingOnLedger)),
    ],
    [WEBHOOK_PATHS.templates, withBudgets(templateHandler(sources), sources)],
    [WEBHOOK_PATHS.classes, limitConcurrency(priorityClassHandler(sources), sources.pending)],
    [WEBHOOK_PATHS.evictions, inLanes(evictionHandler(sources), sources.evictionLanes)],
    [WEBHOOK_PATHS.limits, answeringAtOnce(inLanes(limitHandler(sources), sources.evictionLanes))],
    [WEBHOOK_PATHS.limitedDeletions, limitConcurrency(limitHandler(sources), sources.pending, acceptDeletion)],
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

/** As the API server refuses an eviction for a PodDisruptionBudget: `kubectl drain` then says why, and asks again. */
function answeringAtOnce(handle: AdmissionHandler): AdmissionHandler {
  return (review) => {
    const decision = handle(review);
    return decision instanceof Promise ? decision.then(withoutWait) : withoutWait(decision);
  };
}

function recording(handle: AdmissionHandler, record: RecordDenial): AdmissionHandler {
  return (review) => {
    const recordDecision = (decided: AdmissionDecision): void => {
      if (decided.kind === 'refused') record(review.request, decided);
    };
    const decision = handle(review);
    if (decision instanceof Promise) void decision.then(recordDecision, () => undefined);
    else recordDecision(decision);
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

/**
 * Wraps a handler that waits for the API server so that at most as many run as `pending` has slots; `whenFull` decides
 * the others.
 */
export function limitConcurrency(
  handle: AdmissionHandler,
  pending: PendingReviews,
  whenFull: AdmissionHandler = () => overloaded(ERRORS.tooManyWaiting()),
): AdmissionHandler {
  return (review) => {
    const share = pending.begin(review);
    return share === undefined ? whenFull(review) : handleHolding(share, handle, review);
  };
}

/** Likewise, but a review waits for a while until its caller may have one more decided. */
export function inLanes(handle: AdmissionHandler, lanes: CallerLanes): AdmissionHandler {
  return (review) => {
    const share = lanes.begin(review);
    if (share !== undefined) return handleHolding(share, handle, review);
    return lanes
      .wait(review)
      .then((late) => (late === undefined ? overloaded(ERRORS.tooManyWaiting()) : handleHolding(late, handle, review)));
  };
}

function handleHolding(share: TakenShare, handle: AdmissionHandler, review: Review): ReturnType<AdmissionHandler> {
  let decision: ReturnType<AdmissionHandler> | undefined;
  try {
    decision = handle(review);
  } finally {
    if (!(decision instanceof Promise)) share.end();
  }
  return decision instanceof Promise ? decision.finally(() => share.end()) : decision;
}

/**
 * Marks an answer that is not the only one of its webhook entry for one API request: an allowed mutation, which may be
 * followed by a reinvocation, or one object of a deleted collection.
 */
export function markOneOfSeveral(
  path: string,
  { operation, name }: AdmissionRequest,
  decision: AdmissionDecision,
): AdmissionDecision {
  if (path === WEBHOOK_PATHS.mutate)
    return decision.kind === 'refused' ? decision : { ...decision, oneOf: 'mutations' };
  return operation === 'DELETE' && name === '' ? { ...decision, oneOf: 'items' } : decision;
}

/**
 * A handler for the validating phase that refuses invalid names: the API server has already validated them, so it
 * cannot have sent such a request. The mutating phase runs before that validation and does not check names.
 */
function withValidNames(handle: AdmissionHandler): AdmissionHandler {
  return (review) => nameProblem(review) ?? handle(review);
}

function nameProblem({ request, object }: Review): AdmissionDecision | undefined {
  const metadata = fieldOf(object, 'metadata');
  const names: readonly (readonly [string, unknown])[] = [
    ['request.name', request.name],
    ['request.namespace', request.namespace],
    ['object.metadata.name', fieldOf(metadata, 'name')],
    ['object.metadata.namespace', fieldOf(metadata, 'namespace')],
  ];
  const wrong = names.find(([, name]) => typeof name === 'string' && name !== '' && subdomainFaults(name).length > 0);
  if (wrong === undefined) return undefined;
  const [field, name] = wrong;
  return malformedField(field, subdomainFaults(String(name)).join(', '));
}

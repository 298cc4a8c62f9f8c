import { asDryRun, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { OWN_ACCOUNTS, WEBHOOK_PATHS } from '#shared/kube/webhook-configurations.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import { MUTATION, VALIDATION, type PodSources } from './decide-then-confirm.ts';
import { judgeBeforeCharge, judgeNothing } from './check-before-charge.ts';
import { judgeClasses, type ClassSources } from './priority-class-handler.ts';
import { judgeDeletions, judgeEvictions, type DisruptionSources } from './disruption-handlers.ts';
import { judgePods } from './pod-handler.ts';
import { judgeQuota, type QuotaSources } from './quota-handler.ts';
import { judgeTemplates } from './template-handler.ts';
import { markOneOfSeveral } from './one-of-several.ts';
import type { PendingReviews } from '#webhook/server/pending-reviews.ts';
import type { Judge } from '#webhook/server/review-listener.ts';
import type { TellRefusal } from '#webhook/events/denial-events.ts';
import { withValidNames } from './valid-names.ts';
import { whilePending } from './limit-concurrency.ts';

export interface JudgeSources extends PodSources, DisruptionSources, QuotaSources, ClassSources {
  /** `DryRun` turns every refusal into a warning. */
  readonly mode: WebhookConfiguration['mode'];
  readonly tellRefusal: TellRefusal;
  /** Of those that wait for a quota to be charged, which must not keep the others from being decided. */
  readonly pendingOnLedger: PendingReviews;
}

/** Who judges what, by path. */
export function createJudges(sources: JudgeSources): ReadonlyMap<string, Judge> {
  const judgeFirst = sources.mode === 'DryRun' ? judgeNothing : judgeBeforeCharge(sources);
  const judges: readonly (readonly [string, Judge])[] = [
    [WEBHOOK_PATHS.mutate, judgePods(sources, MUTATION)],
    [WEBHOOK_PATHS.validate, withValidNames(judgePods(sources, VALIDATION))],
    [WEBHOOK_PATHS.quota, withValidNames(whilePending(judgeQuota(sources, judgeFirst), sources.pendingOnLedger))],
    [WEBHOOK_PATHS.templates, judgeTemplates(sources)],
    [WEBHOOK_PATHS.classes, whilePending(judgeClasses(sources), sources.pending)],
    [WEBHOOK_PATHS.evictions, whilePending(judgeEvictions(sources), sources.pending)],
    [WEBHOOK_PATHS.deletions, whilePending(judgeDeletions(sources), sources.pending)],
  ];
  const inMode = (judge: Judge) => (sources.mode === 'DryRun' ? inDryRun(judge) : telling(judge, sources.tellRefusal));
  return new Map(judges.map(([path, judge]) => [path, marked(path, inMode(judge))]));
}

function marked(path: string, judge: Judge): Judge {
  return (review) => {
    const mark = (decision: AdmissionDecision) => markOneOfSeveral(path, review.request, decision);
    const decision = judge(review);
    return decision instanceof Promise ? decision.then(mark) : mark(decision);
  };
}

function telling(judge: Judge, tell: TellRefusal): Judge {
  return (review) => {
    const decision = judge(review);
    if (decision instanceof Promise)
      void decision.then(
        (decided) => tell(review.request, decided),
        () => undefined,
      );
    else tell(review.request, decision);
    return decision;
  };
}

/** The laws that our own accounts are held to when they remove pods are no rule that an administrator tries out. */
function inDryRun(judge: Judge): Judge {
  return (review) => {
    const decision = judge(review);
    if (isOwnRemoval(review.request)) return decision;
    return decision instanceof Promise ? decision.then(asDryRun) : asDryRun(decision);
  };
}

function isOwnRemoval({ requester, subresource, operation }: AdmissionRequest): boolean {
  return OWN_ACCOUNTS.includes(requester.name) && (subresource === 'eviction' || operation === 'DELETE');
}

import { asDryRun, type AdmissionDecision } from '#shared/domain/admission/decision.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { OWN_ACCOUNTS, WEBHOOK_PATHS } from '#shared/kube/webhook-configurations.ts';
import type { WebhookConfiguration } from './configuration.ts';
import { MUTATION, VALIDATION, type PodSources } from './decide-then-confirm.ts';
import { judgeBeforeCharge, judgeNothing } from './judge-before-charge.ts';
import { judgeClasses, type ClassSources } from './judge-classes.ts';
import { judgeDeletions, judgeEvictions, type DisruptionSources } from './judge-disruptions.ts';
import { judgePods } from './judge-pods.ts';
import { judgeQuota, type QuotaSources } from './judge-quota.ts';
import { judgeTemplates } from './judge-templates.ts';
import { markOneOfSeveral } from './one-of-several.ts';
import type { PendingReviews } from './pending-reviews.ts';
import type { Judge } from './review-listener.ts';
import type { TellRefusal } from './refusal-teller.ts';
import { withValidNames } from './valid-names.ts';
import { whilePending } from './while-pending.ts';

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

import { type AdmissionDecision, type Refused, refuseFor, withoutWait } from '#shared/domain/admission/decision.ts';
import { asDryRun, overloaded } from '#shared/domain/admission/refusals.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { OWN_ACCOUNTS } from '#shared/kube/admission/cel-expressions.ts';
import { WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import type { BodyBounds, Unread } from '#webhook/request-body/body-budget.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { ReviewStart } from '#webhook/request-body/review-scan.ts';
import { FAILURES, type HttpFailure } from '#webhook/messages.ts';

/** Decides reviews that cannot be read or decoded. */
export interface Refusals {
  /** The failure for a body that was not read completely. */
  failureOf(why: Unread): HttpFailure;
  /** The decision for a review that cannot be read, or not in time; `undefined` leaves it to the failure policy. */
  unread(path: string, start: ReviewStart, failure: HttpFailure): AdmissionDecision | undefined;
  /** The decision for a review that the API server would never send. */
  malformed(message: string): AdmissionDecision;
}

/**
 * On entries that admit objects, an unreadable review is refused. A removal need not be readable, and an administrator
 * must always be able to repair a class: there the registered failure policy decides.
 */
const LETTING_IN: readonly string[] = [
  WEBHOOK_PATHS.mutate,
  WEBHOOK_PATHS.validate,
  WEBHOOK_PATHS.quota,
  WEBHOOK_PATHS.templates,
];

const REMOVING: readonly string[] = [WEBHOOK_PATHS.evictions, WEBHOOK_PATHS.deletions];

/**
 * A tenant can overload every entry, and most entries ignore failures: therefore an overloaded webhook refuses reviews
 * on all of them but the one that only counts.
 */
export function createRefusals(mode: WebhookConfiguration['mode'], bounds: BodyBounds): Refusals {
  const failures = failuresOf(bounds);
  const inMode = (refused: Refused): AdmissionDecision => (mode === 'DryRun' ? asDryRun(refused) : refused);
  return {
    failureOf: (why) => failures[why],
    unread: (path, { username }, failure) => {
      if (path === WEBHOOK_PATHS.limitedDeletions) return undefined;
      if (failure.code !== 429 && !LETTING_IN.includes(path)) return undefined;
      const refused = refusalOf(failure);
      if (path === WEBHOOK_PATHS.limits) return withoutWait(inMode(refused));
      return isOwnRemoval(path, username) ? refused : inMode(refused);
    },
    malformed: (message) => inMode(refuseFor(MESSAGES.unreadableReview, { cause: message })),
  };
}

/** DryRun does not apply to the rules for removals by our own accounts. */
function isOwnRemoval(path: string, username: string | undefined): boolean {
  return REMOVING.includes(path) && (username === undefined || OWN_ACCOUNTS.includes(username));
}

function refusalOf({ code, message: cause }: HttpFailure): Refused {
  if (code === 429) return overloaded(cause);
  return refuseFor(code === 413 ? MESSAGES.reviewTooLarge : MESSAGES.unreadableReview, { cause });
}

function failuresOf({ maxBytes, limits }: BodyBounds): Readonly<Record<Unread, HttpFailure>> {
  const { depth, values } = limits;
  return {
    tooLarge: FAILURES.tooLarge(maxBytes),
    values: FAILURES.tooManyValues(values),
    depth: FAILURES.tooDeep(depth),
    tooMany: FAILURES.tooManyAtOnce(),
    tooSlow: FAILURES.tooSlow(),
  };
}

import { because } from '#shared/domain/admission/admission-code.ts';
import { asDryRun, refuse, type AdmissionDecision, type Refused } from '#shared/domain/admission/decision.ts';
import { overloaded } from '#shared/domain/admission/refusals/overloaded.ts';
import { OWN_ACCOUNTS, WEBHOOK_PATHS } from '#shared/kube/admission/webhook-configurations.ts';
import type { BodyBounds, Unread } from '#webhook/request-body/body-budget.ts';
import type { WebhookConfiguration } from '#webhook/configuration.ts';
import type { Failure } from '#webhook/request-body/review-head.ts';
import type { ReviewStart } from '#webhook/request-body/review-start.ts';

/** Decides reviews that cannot be read or decoded. */
export interface Refusals {
  /** The failure for a body that was not read completely. */
  failureOf(why: Unread): Failure;
  /** The decision for a review that cannot be read, or not in time; `undefined` leaves it to the failure policy. */
  unread(path: string, start: ReviewStart, failure: Failure): AdmissionDecision | undefined;
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
 * on all of them.
 */
export function createRefusals(mode: WebhookConfiguration['mode'], bounds: BodyBounds): Refusals {
  const failures = failuresOf(bounds);
  const inMode = (refused: Refused): AdmissionDecision => (mode === 'DryRun' ? asDryRun(refused) : refused);
  return {
    failureOf: (why) => failures[why],
    unread: (path, { username }, failure) => {
      if (failure.code !== 429 && !LETTING_IN.includes(path)) return undefined;
      const refused = refusalOf(failure);
      return isOwnRemoval(path, username) ? refused : inMode(refused);
    },
    malformed: (message) => inMode(refuse(400, because('MalformedRequest', message))),
  };
}

/** DryRun does not apply to the rules for removals by our own accounts. */
function isOwnRemoval(path: string, username: string | undefined): boolean {
  return REMOVING.includes(path) && (username === undefined || OWN_ACCOUNTS.includes(username));
}

function refusalOf({ code, message }: Failure): Refused {
  if (code === 429) return overloaded(message);
  if (code === 413) return refuse(413, because('ReviewTooLarge', message));
  return refuse(400, because('MalformedRequest', message));
}

function failuresOf({ maxBytes, limits }: BodyBounds): Readonly<Record<Unread, Failure>> {
  const { depth, values } = limits;
  return {
    tooLarge: { code: 413, message: `Request body is too large: at most ${maxBytes} bytes` },
    values: { code: 413, message: `Request body is too large: at most ${values} values` },
    depth: { code: 400, message: `Request body is nested deeper than ${depth}` },
    tooMany: { code: 429, message: 'Too many large requests at once' },
    tooSlow: { code: 429, message: 'Request waited too long to be read' },
  };
}

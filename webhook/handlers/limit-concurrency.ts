import { overloaded } from '#shared/domain/admission/refusals/overloaded.ts';
import { ERRORS } from '#webhook/messages.ts';
import type { PendingReviews } from '#webhook/server/pending-reviews.ts';
import type { AdmissionHandler } from '#webhook/server/review-answerer.ts';

/** Wraps a handler that waits for the API server so that at most as many run as `pending` has slots. */
export function limitConcurrency(handle: AdmissionHandler, pending: PendingReviews): AdmissionHandler {
  return (review) => {
    const share = pending.begin(review);
    if (share === undefined) return overloaded(ERRORS.tooManyWaiting());
    let decision: ReturnType<AdmissionHandler> | undefined;
    try {
      decision = handle(review);
    } finally {
      if (!(decision instanceof Promise)) share.end();
    }
    return decision instanceof Promise ? decision.finally(() => share.end()) : decision;
  };
}

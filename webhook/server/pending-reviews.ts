import type { Review } from './decode-review.ts';
import { createFairShares, type Share } from '#webhook/request-body/fair-shares.ts';
import { holdersOf } from '#webhook/request-body/review-holders.ts';

/** Reviews whose decision has to wait for the API server. */
export interface PendingReviews {
  /**
   * Takes a slot until the review is decided; `undefined` when too many reviews wait, or too many of the same namespace
   * or user.
   */
  begin(review: Pick<Review, 'request' | 'heldBytes'>): Share | undefined;
}

/** Memory that waiting reviews may hold together. */
const TOGETHER_BYTES = 16 * 1024 * 1024;

/** A review larger than this still gets a slot when no other review waits. */
const LARGEST_SHARE = TOGETHER_BYTES / 2;

/** At most `most` at once, fewer if they are large. */
export function createPendingReviews(most: number): PendingReviews {
  const shares = createFairShares(TOGETHER_BYTES);
  return {
    begin: ({ request, heldBytes }) => {
      const sender = { namespace: request.namespace, username: request.requester.name };
      const cost = Math.max(heldBytes, TOGETHER_BYTES / most);
      return shares.take(holdersOf(sender), Math.min(cost, LARGEST_SHARE));
    },
  };
}

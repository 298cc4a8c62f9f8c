import type { Review } from './admission-review.ts';
import { createFairShares, type TakenShare, holdersOf } from '#webhook/request-body/fair-queue.ts';

/** Reviews whose decision has to wait for the API server. */
export interface PendingReviews {
  /**
   * Takes a slot until the review is decided; `undefined` when too many reviews wait, or too many of the same namespace
   * or user.
   */
  begin(review: Pick<Review, 'request' | 'heldBytes'>): TakenShare | undefined;
}

/** Maximum memory of all waiting reviews together. */
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

/**
 * At most `mostPerCaller` reviews at once per caller. Our agents share one account, so each node counts as a caller: a
 * node whose token was stolen must not delay the agents of other nodes.
 */
export function createCallerLanes(mostPerCaller: number): PendingReviews {
  const lanes = new Map<string, number>();
  return {
    begin: ({ request: { requester } }) => {
      const caller = JSON.stringify([requester.name, requester.nodeName ?? '']);
      const taken = lanes.get(caller) ?? 0;
      if (taken >= mostPerCaller) return undefined;
      lanes.set(caller, taken + 1);
      let isHeld = true;
      return {
        end: () => {
          if (isHeld) leaveLane(lanes, caller);
          isHeld = false;
        },
      };
    },
  };
}

function leaveLane(lanes: Map<string, number>, caller: string): void {
  const left = (lanes.get(caller) ?? 0) - 1;
  if (left > 0) lanes.set(caller, left);
  else lanes.delete(caller);
}

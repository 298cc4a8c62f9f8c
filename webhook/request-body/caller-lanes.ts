import type { AdmissionRequest } from '#shared/domain/admission/request.ts';
import { createFairShares, createSharedTimeout, type PendingReviews, type TakenShare } from './fair-queue.ts';

type PendingReview = Parameters<PendingReviews['begin']>[0];

/** Limits how many reviews of each caller are decided at once; more of them wait for a while. */
export interface CallerLanes extends PendingReviews {
  /** Waits for a place in the lane of the caller; `undefined` if none is free in time, or too many wait. */
  wait(review: PendingReview): Promise<TakenShare | undefined>;
}

export interface LaneBounds {
  readonly mostPerCaller: number;
  readonly waitMs: number;
}

/** Of all reviews that wait. One caller gets half of it at most. */
const WAITING_BYTES = 16 * 1024 * 1024;
/** What a small review takes with its connection. */
const LEAST_BYTES = 16 * 1024;

interface Lane {
  taken: number;
  readonly waiting: Set<() => void>;
}

/**
 * At most `mostPerCaller` reviews at once per caller. Our agents share one account, so each node counts as a caller: a
 * node whose token was stolen must not delay the agents of other nodes. That is why the others wait rather than being
 * refused at once: a caller that asks again after each refusal would keep the process busy with refusals.
 */
export function createCallerLanes({ mostPerCaller, waitMs }: LaneBounds): CallerLanes {
  const lanes = new Map<string, Lane>();
  const memory = createFairShares(WAITING_BYTES);
  const timeout = createSharedTimeout(waitMs);

  function take(caller: string): TakenShare | undefined {
    const lane = lanes.get(caller) ?? { taken: 0, waiting: new Set() };
    if (lane.taken >= mostPerCaller) return undefined;
    lane.taken += 1;
    lanes.set(caller, lane);
    let isHeld = true;
    return {
      end: () => {
        if (isHeld) leave(caller, lane);
        isHeld = false;
      },
    };
  }

  function leave(caller: string, lane: Lane): void {
    lane.taken -= 1;
    const [next] = lane.waiting;
    if (next !== undefined) next();
    else if (lane.taken === 0) lanes.delete(caller);
  }

  function enqueue(caller: string, lane: Lane, memoryShare: TakenShare): Promise<TakenShare | undefined> {
    return new Promise((resolve) => {
      const begin = (): void => {
        lane.waiting.delete(begin);
        stopWaiting();
        memoryShare.end();
        resolve(take(caller));
      };
      const stopWaiting = timeout.add(() => {
        lane.waiting.delete(begin);
        memoryShare.end();
        resolve(undefined);
      });
      lane.waiting.add(begin);
    });
  }

  return {
    begin: ({ request }) => take(callerOf(request)),
    wait: ({ request, heldBytes }) => {
      const caller = callerOf(request);
      const lane = lanes.get(caller);
      const share = memory.take([caller], Math.max(heldBytes, LEAST_BYTES));
      if (lane !== undefined && share !== undefined) return enqueue(caller, lane, share);
      share?.end();
      return Promise.resolve(undefined);
    },
  };
}

function callerOf({ requester }: Pick<AdmissionRequest, 'requester'>): string {
  return JSON.stringify([requester.name, requester.nodeName ?? '']);
}

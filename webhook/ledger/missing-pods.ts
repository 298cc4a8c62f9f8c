import type { CountedPod } from '#shared/domain/quota/ledger.ts';
import type { Clock } from '#shared/runtime/clock.ts';

/** Reservations whose pods have not appeared, and since when we miss them. */
export interface MissingPods {
  /** Whether a pod will never appear any more. */
  readonly isExpired: (uid: string) => boolean;
  /** After a count: which reservations are left, and which pods there are. */
  update(reserved: Iterable<string>, pods: readonly CountedPod[]): void;
}

/** Twice what the API server gives a request: a pod that has not appeared by then never will. */
const RESERVATION_LIFE_MS = 120_000;

/** Times are of our own clock alone: whoever reserved may live in another time. */
export function createMissingPods(clock: Clock): MissingPods {
  let missedSince = new Map<string, number>();
  return {
    isExpired: (uid) => {
      const since = missedSince.get(uid);
      return since !== undefined && clock.monotonic() - since >= RESERVATION_LIFE_MS;
    },
    update: (reserved, pods) => {
      const present = new Set(pods.map(({ uid }) => uid));
      const now = clock.monotonic();
      const missed = [...reserved].filter((uid) => !present.has(uid));
      missedSince = new Map(missed.map((uid) => [uid, missedSince.get(uid) ?? now]));
    },
  };
}

import type { Clock } from '#shared/runtime/clock.ts';

/** Reservations whose pods have not appeared, and since when we miss them. */
export interface MissingPods {
  /** Whether a pod will never appear any more. */
  readonly isExpired: (uid: string) => boolean;
  /** After a count: which reservations there were before it began, and which pods it found. */
  update(reserved: Iterable<string>, found: Pick<ReadonlyMap<string, unknown>, 'has'>): void;
}

/** Times are of our own clock alone: whoever reserved may live in another time. */
export function createMissingPods(clock: Clock, reservationMs: number): MissingPods {
  let missedSince = new Map<string, number>();
  return {
    isExpired: (uid) => {
      const since = missedSince.get(uid);
      return since !== undefined && clock.monotonic() - since >= reservationMs;
    },
    update: (reserved, found) => {
      const now = clock.monotonic();
      const missed = [...reserved].filter((uid) => !found.has(uid));
      missedSince = new Map(missed.map((uid) => [uid, missedSince.get(uid) ?? now]));
    },
  };
}

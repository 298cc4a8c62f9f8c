import type { Slice } from '#shared/domain/quota/ledger/slice.ts';
import { OWED_AFTER_MS } from '#shared/domain/quota/ledger/wasted-reservations.ts';

interface Silence {
  readonly renewals: number;
  readonly since: number;
}

/**
 * Tracks since when pods of reservations are missing and since when holders of slices have not written, by the
 * monotonic clock of this process only: clocks of other replicas may differ.
 */
export class ExpiryTracker {
  #missedSince: ReadonlyMap<string, number> = new Map();
  #silentSince: ReadonlyMap<string, Silence> = new Map();
  readonly #reservationMs: number;
  readonly #silenceMs: number;

  /** A pod may take `reservationMs` to appear; a slice is dead when its holder has not written for `silenceMs`. */
  constructor(reservationMs: number, silenceMs: number) {
    this.#reservationMs = reservationMs;
    this.#silenceMs = silenceMs;
  }

  /** Sets the reservations that have no pod now. */
  missing(uids: Iterable<string>, now: number): void {
    this.#missedSince = new Map(Array.from(uids, (uid) => [uid, this.#missedSince.get(uid) ?? now]));
  }

  /** Sets the current slices. */
  slices(slices: Iterable<Slice>, now: number): void {
    this.#silentSince = new Map(
      Array.from(slices, ({ holder, renewals }) => {
        const before = this.#silentSince.get(holder);
        return [holder, before?.renewals === renewals ? before : { renewals, since: now }];
      }),
    );
  }

  /**
   * Whether a pod will never appear: it had not appeared in a view proven complete at `provenAt`, and by then its time
   * was over.
   */
  isExpired(uid: string, provenAt: number): boolean {
    const since = this.#missedSince.get(uid);
    return since !== undefined && since + this.#reservationMs <= provenAt;
  }

  /** Whether a slice has no effect any more that is not known at `provenAt`. */
  isDead({ holder, renewals }: Slice, provenAt: number): boolean {
    const silence = this.#silentSince.get(holder);
    return silence?.renewals === renewals && silence.since + this.#silenceMs <= provenAt;
  }

  /** Whether something has expired that only needs a proof that the view is complete. */
  needsProof(now: number, provenAt: number): boolean {
    const isOverdue = (dueAt: number): boolean => dueAt <= now && dueAt > provenAt;
    for (const since of this.#missedSince.values())
      if (isOverdue(since + this.#reservationMs) || isOverdue(since + OWED_AFTER_MS)) return true;
    for (const { since } of this.#silentSince.values()) if (isOverdue(since + this.#silenceMs)) return true;
    return false;
  }
}

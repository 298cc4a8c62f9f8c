import type { Slice } from '#shared/domain/quota/ledger/slice.ts';
import { OWED_AFTER_MS } from '#shared/domain/quota/ledger/wasted-reservations.ts';

interface Silence {
  readonly renewals: number;
  readonly since: number;
}

/**
 * Reservations whose pods have not appeared, and slices whose holders have not written, and since when: by the monotonic
 * clock of this process alone, for whoever reserved may live in another time.
 */
export class ExpiryTracker {
  #missedSince: ReadonlyMap<string, number> = new Map();
  #silentSince: ReadonlyMap<string, Silence> = new Map();
  readonly #reservationMs: number;
  readonly #silenceMs: number;

  /** A pod may take `reservationMs` to appear; a slice is dead when its holder has been silent for `silenceMs`. */
  constructor(reservationMs: number, silenceMs: number) {
    this.#reservationMs = reservationMs;
    this.#silenceMs = silenceMs;
  }

  /** These reservations are all that have no pod now. */
  missing(uids: Iterable<string>, now: number): void {
    this.#missedSince = new Map(Array.from(uids, (uid) => [uid, this.#missedSince.get(uid) ?? now]));
  }

  /** These slices are all that there are now. */
  slices(slices: Iterable<Slice>, now: number): void {
    this.#silentSince = new Map(
      Array.from(slices, ({ holder, renewals }) => {
        const before = this.#silentSince.get(holder);
        return [holder, before?.renewals === renewals ? before : { renewals, since: now }];
      }),
    );
  }

  /**
   * Whether a pod will never appear any more: it had not when all that had happened by `provenAt` was known, and by then
   * its time was over.
   */
  isExpired(uid: string, provenAt: number): boolean {
    const since = this.#missedSince.get(uid);
    return since !== undefined && since + this.#reservationMs <= provenAt;
  }

  /** Whether nothing will come of a slice any more that was not known at `provenAt`. */
  isDead({ holder, renewals }: Slice, provenAt: number): boolean {
    const silence = this.#silentSince.get(holder);
    return silence?.renewals === renewals && silence.since + this.#silenceMs <= provenAt;
  }

  /** Whether something would be over now if only it were known that nothing has been missed. */
  needsProof(now: number, provenAt: number): boolean {
    const isOverdue = (dueAt: number): boolean => dueAt <= now && dueAt > provenAt;
    for (const since of this.#missedSince.values())
      if (isOverdue(since + this.#reservationMs) || isOverdue(since + OWED_AFTER_MS)) return true;
    for (const { since } of this.#silentSince.values()) if (isOverdue(since + this.#silenceMs)) return true;
    return false;
  }
}

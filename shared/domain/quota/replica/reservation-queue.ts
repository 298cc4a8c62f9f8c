import type { PendingReservation } from './apply-batch.ts';

/**
 * Reservations that somebody waits for, in the order in which they came. They are queued for the next write, or deferred
 * until something has changed. Each is answered before its time is up, whatever else happens.
 */
export class ReservationQueue {
  readonly #open = new Set<PendingReservation>();
  #queued: PendingReservation[] = [];
  #deferred: readonly PendingReservation[] = [];

  /** Whether nobody waits for the next write. */
  get isEmpty(): boolean {
    return this.#queued.length === 0;
  }

  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  get hasDeferred(): boolean {
    return this.#deferred.length > 0;
  }

  add(pending: PendingReservation): void {
    this.#open.add(pending);
    this.#queued.push(pending);
  }

  /** Takes out those that are queued, the first `most` of them. */
  take(most = Infinity): readonly PendingReservation[] {
    const taken = this.#queued.slice(0, most);
    this.#queued = this.#queued.slice(taken.length);
    return taken;
  }

  /** Puts those that are still open before all others. */
  putBack(pending: readonly PendingReservation[]): void {
    this.#queued = [...pending.filter((each) => this.#open.has(each)), ...this.#queued];
  }

  defer(pending: readonly PendingReservation[]): void {
    this.#deferred = [...this.#deferred, ...pending.filter((each) => this.#open.has(each))];
  }

  /** Something has changed: those that were deferred are queued again. */
  resume(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    this.putBack(deferred);
  }

  /** False where its time was up before: then it has its answer. */
  close(pending: PendingReservation): boolean {
    return this.#open.delete(pending);
  }

  /** Closes and takes out those whose time is up. */
  takeLate(now: number): readonly PendingReservation[] {
    const late = [...this.#open].filter(({ giveUpAt }) => giveUpAt <= now);
    if (late.length === 0) return late;
    for (const each of late) this.#open.delete(each);
    this.#queued = this.#queued.filter((each) => this.#open.has(each));
    this.#deferred = this.#deferred.filter((each) => this.#open.has(each));
    return late;
  }
}

import type { PendingReservation } from './apply-batch.ts';

/**
 * Pending reservations in order of arrival. They are queued for the next write, or deferred until something changes.
 * Each is answered before its deadline, whatever else happens.
 */
export class ReservationQueue {
  readonly #open = new Set<PendingReservation>();
  #queued: PendingReservation[] = [];
  #deferred: readonly PendingReservation[] = [];

  /** Whether no reservation waits for the next write. */
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

  /** Removes and returns the first `most` queued reservations. */
  take(most = Infinity): readonly PendingReservation[] {
    const taken = this.#queued.slice(0, most);
    this.#queued = this.#queued.slice(taken.length);
    return taken;
  }

  /** Puts those that are still open at the front of the queue. */
  putBack(pending: readonly PendingReservation[]): void {
    this.#queued = [...pending.filter((each) => this.#open.has(each)), ...this.#queued];
  }

  defer(pending: readonly PendingReservation[]): void {
    this.#deferred = [...this.#deferred, ...pending.filter((each) => this.#open.has(each))];
  }

  /** Queues the deferred reservations again after a change. */
  resume(): void {
    const deferred = this.#deferred;
    this.#deferred = [];
    this.putBack(deferred);
  }

  /** Marks it as answered; false if it had already timed out. */
  close(pending: PendingReservation): boolean {
    return this.#open.delete(pending);
  }

  /** Removes and returns those whose deadline has passed. */
  takeLate(now: number): readonly PendingReservation[] {
    const late = [...this.#open].filter(({ giveUpAt }) => giveUpAt <= now);
    if (late.length === 0) return late;
    for (const each of late) this.#open.delete(each);
    this.#queued = this.#queued.filter((each) => this.#open.has(each));
    this.#deferred = this.#deferred.filter((each) => this.#open.has(each));
    return late;
  }
}

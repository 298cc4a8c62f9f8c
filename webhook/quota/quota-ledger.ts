import type { Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import type { LedgerEffect, LedgerEvent } from '#shared/domain/quota/replica/event.ts';
import type { ObservedQuota } from '#shared/domain/quota/replica/own-slice.ts';
import {
  createReplica,
  type LedgerView,
  type Replica,
  type ReplicaSettings,
  type StepContext,
} from '#shared/domain/quota/replica/replica.ts';
import type { PendingReservation, ReservationResult } from '#shared/domain/quota/replica/apply-batch.ts';
import { step } from '#shared/domain/quota/replica/step.ts';
import { backoffDelay, type Backoff } from '#shared/runtime/backoff.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerStore } from './ledger-store.ts';

export interface QuotaLedgerOptions extends ReplicaSettings {
  readonly store: LedgerStore;
  readonly view: LedgerView;
  readonly observed: () => ObservedQuota;
  readonly clock: Clock;
  readonly random: () => number;
  /** Asks for a proof that the view is current. */
  readonly prove: () => void;
  /** Told of every charge, whether it took a write. */
  readonly charged: (path: 'slice' | 'ledger') => void;
  /** Told of every count that was due. */
  readonly recounted: (result: 'done' | 'failed') => void;
}

type LastingEffect = Extract<LedgerEffect, { readonly kind: 'takeTurn' | 'read' | 'write' | 'pause' }>;

interface ReserveOptions {
  readonly withinMs: number;
  readonly isDryRun: boolean;
}

/** Who is in another's way waits at random, longer each time: meanwhile others come who share the next write. */
const PAUSES: Backoff = { initialMs: 25, maxMs: 200, factor: 2, jitter: 1 };
/** How late a reservation may be given up. */
const TICK_MS = 50;
/** A turn, a read and a write, and a few more where others write too; what is not given back comes back by itself. */
const TURNS_TO_CLOSE = 12;

/** The ledger of one quota in this replica: brings events to `step` and carries out what it says. */
export class QuotaLedger {
  readonly #options: QuotaLedgerOptions;
  readonly #replica: Replica;
  readonly #waiting = new Map<PendingReservation, (result: ReservationResult) => void>();
  readonly #underWay = new Set<Promise<void>>();
  #isTicking = false;

  constructor(options: QuotaLedgerOptions) {
    this.#options = options;
    this.#replica = createReplica(options, this.#now());
  }

  /** Reserves, or in a dry run only says whether it could; `busy` when that takes longer than `withinMs`. */
  reserve(reservation: Reservation, { withinMs, isDryRun }: ReserveOptions): Promise<ReservationResult> {
    const pending = { reservation, isDryRun, giveUpAt: this.#options.clock.monotonic() + withinMs };
    return new Promise((settle) => {
      this.#waiting.set(pending, settle);
      this.#handle({ kind: 'asked', pending });
      void this.#tickWhileOpen();
    });
  }

  /** Takes a reservation back for a pod that was refused after all. */
  cancel(reservation: Reservation): void {
    this.#handle({ kind: 'cancelled', reservation });
  }

  /** To be called every now and then: does what is due. */
  tick(): void {
    this.#handle({ kind: 'ticked', random: this.#options.random() });
  }

  /** To be called when the quota or the pods have changed. */
  observe(): void {
    this.#handle({ kind: 'observed' });
  }

  /** Whether the pods have ever been counted. */
  get hasCounted(): boolean {
    return this.#replica.hasCounted;
  }

  /** Some pods, `namespace/name`, that cannot be read: each is charged as much as the quota limits. `undefined` before a count. */
  get unreadable(): readonly string[] | undefined {
    return this.#replica.unreadable;
  }

  /** Gives back our slice; resolves when that was tried. */
  async close(): Promise<void> {
    for (let turn = 0; turn < TURNS_TO_CLOSE; turn += 1) {
      this.#handle({ kind: 'closed' });
      if (this.#underWay.size === 0) return;
      await Promise.all(this.#underWay);
    }
  }

  #handle(event: LedgerEvent): void {
    for (const effect of step(this.#replica, event, this.#context())) this.#carryOut(effect);
  }

  #carryOut(effect: LedgerEffect): void {
    const { charged, recounted, prove } = this.#options;
    switch (effect.kind) {
      case 'answer':
        this.#waiting.get(effect.pending)?.(effect.result);
        this.#waiting.delete(effect.pending);
        return;
      case 'charged':
        charged(effect.path);
        return;
      case 'recounted':
        recounted(effect.result);
        return;
      case 'prove':
        prove();
        return;
      default:
        this.#begin(effect);
    }
  }

  /** What takes time leads to an event. */
  #begin(effect: LastingEffect): void {
    const underWay = this.#resultOf(effect).then((event) => {
      this.#underWay.delete(underWay);
      this.#handle(event);
    });
    this.#underWay.add(underWay);
  }

  async #resultOf(effect: LastingEffect): Promise<LedgerEvent> {
    const { store, clock, random } = this.#options;
    switch (effect.kind) {
      case 'takeTurn':
        await Promise.resolve();
        return { kind: 'turnCame' };
      case 'read':
        return { kind: 'read', result: await store.read() };
      case 'write':
        return { kind: 'wrote', result: await store.write(effect.write) };
      case 'pause':
        await clock.sleep(backoffDelay(PAUSES, effect.failures - 1, random()));
        return { kind: 'pauseEnded' };
    }
  }

  /** So that each is answered in time, whatever else happens. */
  async #tickWhileOpen(): Promise<void> {
    if (this.#isTicking || this.#waiting.size === 0) return;
    this.#isTicking = true;
    while (this.#waiting.size > 0) {
      await this.#options.clock.sleep(TICK_MS);
      this.tick();
    }
    this.#isTicking = false;
  }

  #context(): StepContext {
    const { observed, view } = this.#options;
    return { now: this.#now(), observed: observed(), view };
  }

  #now(): StepContext['now'] {
    const { clock } = this.#options;
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }
}

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
import type { UnchargedPods } from '#shared/domain/quota/view/quota-counter.ts';
import { step } from '#shared/domain/quota/replica/step.ts';
import { CONFLICT_PAUSES } from '#shared/kube/client/compare-and-swap.ts';
import { backoffDelay } from '#shared/runtime/repeat.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerStore } from './ledger-store.ts';

export interface QuotaLedgerOptions extends ReplicaSettings {
  readonly store: LedgerStore;
  readonly view: LedgerView;
  readonly observed: () => ObservedQuota;
  readonly clock: Clock;
  readonly random: () => number;
  /** Requests a proof that the view is current. */
  readonly prove: () => void;
  /** Called for every charge, with whether it took a write. */
  readonly charged: (path: 'slice' | 'ledger') => void;
  /** Called for every recount that was due. */
  readonly recounted: (result: 'done' | 'failed') => void;
}

type LastingEffect = Extract<LedgerEffect, { readonly kind: 'schedule' | 'read' | 'write' | 'pause' }>;

interface ReserveOptions {
  readonly withinMs: number;
  readonly isDryRun: boolean;
}

/** How late a reservation may time out. */
const TICK_MS = 50;
/** Enough for a read, a write and some conflicts; slices that are not given back expire. */
const TURNS_TO_CLOSE = 12;

/** The ledger of one quota in this replica: passes events to `step` and executes its effects. */
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

  /** Reserves, or in a dry run only says whether it could; `busy` if that takes longer than `withinMs`. */
  reserve(reservation: Reservation, { withinMs, isDryRun }: ReserveOptions): Promise<ReservationResult> {
    const pending = { reservation, isDryRun, giveUpAt: this.#options.clock.monotonic() + withinMs };
    return new Promise((settle) => {
      this.#waiting.set(pending, settle);
      this.#handle({ kind: 'asked', pending });
      void this.#tickWhileOpen();
    });
  }

  /** Cancels a reservation for a pod that was refused after all. */
  cancel(reservation: Reservation): void {
    this.#handle({ kind: 'cancelled', reservation });
  }

  /** Call it regularly: runs the work that is due. */
  tick(): void {
    this.#handle({ kind: 'ticked', random: this.#options.random() });
  }

  /** Call it when the quota or the pods have changed. */
  observe(): void {
    this.#handle({ kind: 'observed' });
  }

  /** Whether the pods have ever been counted. */
  get hasCounted(): boolean {
    return this.#replica.hasCounted;
  }

  /** Which of its pods are not charged as they request; `undefined` before the first count. */
  get uncharged(): UnchargedPods | undefined {
    return this.#replica.uncharged;
  }

  /** Releases our slice; resolves after the attempt. */
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

  /** Starts an asynchronous effect, which ends with an event. */
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
      case 'schedule':
        await Promise.resolve();
        return { kind: 'due' };
      case 'read':
        return { kind: 'read', result: await store.read() };
      case 'write':
        return { kind: 'wrote', result: await store.write(effect.write) };
      case 'pause':
        await clock.sleep(backoffDelay(CONFLICT_PAUSES, effect.failures - 1, random()));
        return { kind: 'pauseEnded' };
    }
  }

  /** Ticks while requests wait, so that each is answered in time. */
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

import { NO_AMOUNTS } from '#shared/domain/model/amounts.ts';
import type { Reservation } from '#shared/domain/quota/ledger-state.ts';
import { limitedAmounts } from '#shared/domain/quota/limited-amounts.ts';
import { backoffDelay, type Backoff } from '#shared/runtime/backoff.ts';
import { createBatchSize } from './batch-size.ts';
import { createCountKeeper } from './count-keeper.ts';
import type { LedgerObject } from './ledger-object.ts';
import type { Written } from './ledger-store.ts';
import type { LedgerPart } from './stored-parts.ts';
import { createPodCounts, type PodCountsOptions } from './pod-counts.ts';
import { createOwnSlice, type OwnSliceOptions, type SharedSlice } from './own-slice.ts';
import {
  isSameCount,
  settleBatch,
  type Batch,
  type Count,
  type Settled,
  type SettledBatch,
  type Wish,
} from './settle-batch.ts';
import { createWastedRoom } from './wasted-room.ts';
import { createWishQueue, type OpenWish } from './wish-queue.ts';

/** The ledger of one quota as one replica changes it. */
export interface QuotaLedger {
  /** Reserves, or in a dry run only says whether it could; `busy` when that takes longer than `withinMs`. */
  reserve(
    reservation: Reservation,
    options: { readonly withinMs: number; readonly isDryRun: boolean },
  ): Promise<Settled>;
  /** Takes a reservation back for a pod that was refused after all. */
  cancel(reservation: Reservation): void;
  /** Counts anew from the pods that exist; one at a time. Rejects when they cannot be read. */
  recount(): Promise<void>;
  /** How many reservations and slices there are, as last heard. */
  open(): number;
  /** To be called now and then, and when there is news of the quota: writes what is due of our slice. */
  tend(): void;
  /** Gives back our slice; resolves when that was tried. */
  close(): Promise<void>;
}

export interface QuotaLedgerOptions
  extends PodCountsOptions, Omit<OwnSliceOptions, 'lifeMs' | 'afterMs' | 'isIndebted'> {
  readonly random: () => number;
  /** A replica younger than this takes no slice. */
  readonly sliceAfterMs: number;
  /** Told of every charge, whether it took a write. */
  readonly charged: (path: 'slice' | 'ledger') => void;
}

type OpenBatch = Batch & { readonly wishes: readonly OpenWish[]; readonly own: SharedSlice | undefined };

function outdated(lost: readonly LedgerPart[]): Settled {
  const fields = lost.map((part) => `status.${part}`).join(', ');
  return { kind: 'busy', why: `the CustomResourceDefinition of PriorityQuotas does not name ${fields}` };
}

/** Who is in somebody's way waits at random, longer each time: meanwhile others come who share the next write. */
const PAUSES: Backoff = { initialMs: 25, maxMs: 200, factor: 2, jitter: 1 };

/** Others write too; and what is not given back comes back by itself. */
const ATTEMPTS_TO_CLOSE = 5;

/**
 * Charges the slice of this replica where there is room in it. Else it changes the ledger by compare-and-swap: everybody
 * who waits in this replica, a count that is ready and what is due of the slice share one write. After a failure without
 * an answer the ledger is read again, and a reservation found there counts as made. Who needs a count first is parked,
 * and meanwhile the others go on.
 *
 * idle → (wish, cancel, count or slice is due) → read unless known → settle → write if changed → tell or park → idle
 */
export function createQuotaLedger({ random, ...options }: QuotaLedgerOptions): QuotaLedger {
  const { store, clock, charged, news } = options;
  const queue = createWishQueue(clock);
  const wasted = createWastedRoom(clock, options.reservationMs);
  const slice = createOwnSlice({
    ...options,
    afterMs: options.sliceAfterMs,
    lifeMs: options.sliceLifeMs,
    isIndebted: (namespace) => wasted.debts().has(namespace),
  });
  const counts = createPodCounts(options, slice.spent);
  const keeper = createCountKeeper({ counts, pause, resume });
  const size = createBatchSize();
  let cancelled: Pick<Reservation, 'uid' | 'claim'>[] = [];
  let isTending = false;
  /** The state last read or written; `undefined` when it may be old. */
  let known: LedgerObject | undefined;
  let openReservations = 0;
  /** In a row. */
  let failures = 0;
  let working: Promise<void> | undefined;

  function work(): Promise<void> {
    return (working ??= workOff());
  }

  async function workOff(): Promise<void> {
    // Whoever comes in the same turn shares the write.
    await Promise.resolve();
    while (isTending || !queue.isEmpty || cancelled.length > 0 || keeper.isReady) await settleOnce();
    working = undefined;
  }

  async function settleOnce(): Promise<void> {
    isTending = false;
    const isRead = known === undefined;
    const base = known ?? (await read());
    if (base === undefined) return;
    const batch = takeBatch(base);
    const settled = settleBatch(base, batch);
    if (settled.write === undefined) {
      conclude(batch.wishes, settled, isRead);
      return;
    }
    if (batch.own !== undefined && settled.slice !== undefined) slice.propose(base, batch.own, settled.slice);
    const written = await store.write(base, settled.state, settled.write);
    if (written.kind === 'refused') return isolate(batch, written.message);
    if (written.kind === 'pruned') return settlePruned(batch, written);
    if (written.kind !== 'written') return takeUpAgain(batch, written.kind);
    remember(written.object);
    failures = 0;
    size.widen();
    if (batch.count !== undefined) counts.done();
    // The write went through, so what it was decided on was the truth: its refusals need no second look.
    conclude(batch.wishes, settled, true);
  }

  function takeWishesAlone(): OpenBatch {
    const wishes = queue.take(size.most);
    return { wishes, cancelled: [], count: undefined, own: undefined, debts: wasted.debts() };
  }

  function takeCount(base: LedgerObject): Count | undefined {
    const count = keeper.take(base);
    if (count !== undefined) wasted.note(base, count, slice.outstanding());
    return count;
  }

  /** Nothing is reserved under limits for which nothing has been counted. */
  function takeBatch(base: LedgerObject): OpenBatch {
    if (size.isNarrow && base.isCounted && !queue.isEmpty) return takeWishesAlone();
    const count = takeCount(base);
    // A refused write is found out about without a count, and under new limits a count comes first.
    const wishes = size.isNarrow && count !== undefined ? [] : queue.take();
    const mayReserve = base.isCounted || count !== undefined;
    const own = mayReserve ? slice.share(base, count) : undefined;
    const batch = { wishes: mayReserve ? wishes : [], cancelled, count, own, debts: wasted.debts() };
    cancelled = [];
    if (mayReserve) return batch;
    counts.forget();
    keeper.park(wishes);
    return batch;
  }

  /**
   * The API server does not know parts of the ledger. What it has stored counts: without slices each pod is charged by a
   * write of its own, and without anything else nothing can be charged at all.
   */
  async function settlePruned(batch: OpenBatch, { object, lost }: Extract<Written, { kind: 'pruned' }>): Promise<void> {
    slice.forgo();
    remember(object);
    if (batch.count !== undefined) counts.done();
    if (lost.every((part) => part === 'slices')) queue.putBack(batch.wishes);
    else for (const wish of batch.wishes) wish.settle(outdated(lost));
    await pause();
  }

  /** No wish fails for the sake of another: half of them are written again, and in the end the one to blame alone. */
  async function isolate(batch: OpenBatch, why: string): Promise<void> {
    const [only, ...others] = batch.wishes;
    known = undefined;
    slice.withdraw();
    // What is neither counted nor taken back comes back by itself.
    if (only === undefined) return pause();
    if (size.isNarrow && others.length === 0) {
      size.widen();
      only.settle({ kind: 'busy', why: `the API server refuses the charge: ${why}` });
      return;
    }
    size.narrow(batch.wishes.length);
    queue.putBack(batch.wishes);
    cancelled = [...batch.cancelled, ...cancelled];
    keeper.putBack(batch.count);
  }

  /** Without an answer cancellations are dropped: at worst room stays taken until the reservation expires. */
  async function takeUpAgain(batch: OpenBatch, why: string): Promise<void> {
    readAgain(batch.wishes);
    if (why === 'conflict') {
      slice.withdraw();
      cancelled = [...batch.cancelled, ...cancelled];
      keeper.putBack(batch.count);
      isTending = batch.own?.isDue === true;
    }
    await pause();
  }

  /**
   * Tells what is settled. A refusal on old numbers is settled again on new ones, at last on the pods themselves; who
   * finds the list of reservations full waits for the next count.
   */
  function conclude(wishes: readonly OpenWish[], { settled }: SettledBatch, isTrue: boolean): void {
    const isUnsure = ({ kind }: Settled): boolean =>
      kind === 'busy' || ((kind === 'exceeded' || kind === 'wasted') && (!isTrue || counts.isDue()));
    const unsure: OpenWish[] = [];
    for (const [index, outcome] of settled.entries()) {
      const wish = wishes[index];
      if (wish === undefined) continue;
      if (isUnsure(outcome)) unsure.push(wish);
      else tell(wish, outcome);
    }
    if (isTrue) keeper.park(unsure);
    else if (unsure.length > 0) readAgain(unsure);
  }

  function readAgain(wishes: readonly OpenWish[]): void {
    known = undefined;
    queue.putBack(wishes);
  }

  /** What was reserved for somebody who had been told that it was too late is taken back. */
  function tell(wish: OpenWish, outcome: Settled): void {
    if (outcome.kind === 'reserved' && !wish.isDryRun) hearCharge(wish);
    if (wish.isOpen) wish.settle(outcome);
    else if (outcome.kind === 'reserved' && !wish.isDryRun) takeBack(wish.reservation);
  }

  function takeBack({ uid, claim }: Reservation): void {
    cancelled.push({ uid, ...(claim !== undefined && { claim }) });
  }

  function hearCharge({ reservation }: OpenWish): void {
    slice.hearCharge(limitedAmounts(reservation.amounts, known?.quota.hard ?? NO_AMOUNTS));
    charged('ledger');
  }

  async function read(): Promise<LedgerObject | undefined> {
    const found = await store.read();
    if (found.kind === 'read') return remember(found.object);
    keeper.drop();
    cancelled = [];
    if (found.kind === 'gone') for (const wish of queue.take()) wish.settle({ kind: 'gone' });
    else await pause();
    return undefined;
  }

  function remember(object: LedgerObject): LedgerObject {
    slice.recognise(object);
    openReservations = object.state.reservations.size;
    return (known = object);
  }

  /** What is known may be older than what was read for the count, and would not fit it. */
  function resume(wishes: readonly OpenWish[], count: Count | undefined): void {
    if (count !== undefined && known !== undefined && !isSameCount(known, count.begun)) known = undefined;
    queue.putBack(wishes);
    void work();
  }

  function pause(): Promise<void> {
    failures += 1;
    return clock.sleep(backoffDelay(PAUSES, failures - 1, random()));
  }

  function reserveInLedger(wish: Wish, withinMs: number): Promise<Settled> {
    const settled = queue.add(wish, withinMs);
    void work();
    return settled;
  }

  function tendSlice(): void {
    if (!slice.isDue()) return;
    isTending = true;
    void work();
  }

  return {
    reserve: (reservation, { withinMs, isDryRun }) => {
      const spent = slice.spend({ reservation, isDryRun });
      if (spent === undefined) return reserveInLedger({ reservation, isDryRun }, withinMs);
      if (!isDryRun) charged('slice');
      tendSlice();
      return Promise.resolve(spent);
    },
    cancel: (reservation) => {
      if (slice.cancel(reservation)) return;
      takeBack(reservation);
      void work();
    },
    recount: async () => {
      await keeper.prepare();
      await work();
    },
    open: () => openReservations + news().slices.size,
    tend: () => {
      counts.hear();
      tendSlice();
    },
    close: async () => {
      slice.close();
      for (let attempt = 0; attempt < ATTEMPTS_TO_CLOSE && slice.isDue(); attempt += 1) {
        tendSlice();
        await working;
      }
    },
  };
}

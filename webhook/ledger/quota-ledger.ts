import type { CountedPod, Reservation } from '#shared/domain/quota/ledger.ts';
import type { PriorityQuota } from '#shared/domain/quota/priority-quota.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import type { LedgerObject } from './ledger-object.ts';
import type { LedgerStore } from './ledger-store.ts';
import { createMissingPods } from './missing-pods.ts';
import {
  isSameCount,
  settleBatch,
  type Batch,
  type Count,
  type Settled,
  type SettledBatch,
  type Wish,
} from './settle-batch.ts';

/** The ledger of one quota as one replica changes it. */
export interface QuotaLedger {
  /** Reserves, or in a dry run only says whether it could. */
  reserve(
    reservation: Reservation,
    options: { readonly withinMs: number; readonly isDryRun: boolean },
  ): Promise<Settled>;
  /** Takes a reservation back for a pod that was refused after all. */
  cancel(uid: string): void;
  /** Counts anew from the pods that exist; one at a time. Rejects when they cannot be read. */
  recount(): Promise<void>;
  /** Reservations as last read or written. */
  openReservations(): number;
}

export interface QuotaLedgerOptions {
  readonly store: LedgerStore;
  /** Every pod that the quota counts, read from storage. */
  readonly listPods: (quota: PriorityQuota) => Promise<readonly CountedPod[]>;
  readonly clock: Clock;
  readonly random: () => number;
}

interface Waiting extends Wish {
  readonly giveUpAt: number;
  readonly settle: (settled: Settled) => void;
}

/** A refusal is checked against the pods that exist, but they are not listed more often than this. */
const RECOUNT_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 25;

/**
 * Changes the ledger by compare-and-swap: everybody who waits in this replica, and a recount that is ready, share one
 * write. After a failure without an answer the ledger is read again, and a reservation found there counts as made.
 *
 * idle → (wish, cancel or count arrives) → read unless known → settle → write if changed → tell → idle
 */
export function createQuotaLedger({ store, listPods, clock, random }: QuotaLedgerOptions): QuotaLedger {
  let waiting: Waiting[] = [];
  let cancelled: string[] = [];
  let count: Count | undefined;
  /** The state last read or written; `undefined` when it may be old. */
  let known: LedgerObject | undefined;
  let working: Promise<void> | undefined;
  let counting: Promise<void> | undefined;
  let countedAt = -Infinity;
  const missing = createMissingPods(clock);

  function work(): Promise<void> {
    working ??= workOff().finally(() => (working = undefined));
    return working;
  }

  async function workOff(): Promise<void> {
    giveUpLate();
    while (waiting.length + cancelled.length > 0 || count !== undefined) {
      await settleOnce();
      giveUpLate();
    }
  }

  async function settleOnce(): Promise<void> {
    const isRead = known === undefined;
    const base = known ?? (await read());
    if (base === undefined) return;
    if (count !== undefined && !isSameCount(base, count.begun)) count = undefined;
    if (!base.isCounted && count === undefined) return prepareCountOrPause();
    const batch = takeBatch();
    const settled = settleBatch(base, batch);
    if (settled.write === undefined) return conclude(batch.wishes, settled, isRead);
    const written = await store.write(base, settled.state, settled.write);
    if (written.kind !== 'written') return takeUpAgain(batch, written.kind);
    known = written.object;
    if (batch.count !== undefined) wasCounted(written.object, batch.count);
    // The write went through, so what it was decided on was the truth: its refusals need no second look.
    return conclude(batch.wishes, settled, true);
  }

  function takeBatch(): Batch & { readonly wishes: readonly Waiting[] } {
    const batch = { wishes: waiting, cancelled, count };
    waiting = [];
    cancelled = [];
    count = undefined;
    return batch;
  }

  /** Without an answer cancellations are dropped: at worst room stays taken until the reservation expires. */
  async function takeUpAgain(batch: Batch & { readonly wishes: readonly Waiting[] }, why: string): Promise<void> {
    known = undefined;
    waiting = [...batch.wishes, ...waiting];
    if (why === 'conflict') {
      cancelled = [...batch.cancelled, ...cancelled];
      count = batch.count;
    }
    await pause();
  }

  /**
   * Tells what is settled. A refusal on old numbers is settled again on new ones, at last on the pods themselves; who
   * finds the list of reservations full waits for the next count.
   */
  async function conclude(wishes: readonly Waiting[], { settled }: SettledBatch, isTrue: boolean): Promise<void> {
    const mayHeal = !isTrue || clock.monotonic() - countedAt >= RECOUNT_PAUSE_MS;
    const open: Waiting[] = [];
    for (const [index, wish] of wishes.entries()) {
      const outcome = settled[index];
      if (outcome === undefined || outcome.kind === 'busy' || (mayHeal && outcome.kind === 'exceeded')) open.push(wish);
      else wish.settle(outcome);
    }
    if (open.length === 0) return;
    waiting = [...open, ...waiting];
    if (!mayHeal) await pause();
    else if (isTrue) await prepareCountOrPause();
    else known = undefined;
  }

  async function read(): Promise<LedgerObject | undefined> {
    const found = await store.read();
    if (found.kind === 'read') return (known = found.object);
    count = undefined;
    cancelled = [];
    if (found.kind === 'gone') for (const wish of waiting) wish.settle({ kind: 'gone' });
    if (found.kind === 'gone') waiting = [];
    else await pause();
    return undefined;
  }

  function giveUpLate(): void {
    const now = clock.monotonic();
    const late = waiting.filter(({ giveUpAt }) => giveUpAt <= now);
    for (const wish of late) wish.settle({ kind: 'busy', why: 'it could not be settled in time' });
    if (late.length > 0) waiting = waiting.filter(({ giveUpAt }) => giveUpAt > now);
  }

  function prepareCount(): Promise<void> {
    counting ??= listAll().finally(() => (counting = undefined));
    return counting;
  }

  async function prepareCountOrPause(): Promise<void> {
    await prepareCount().catch(pause);
  }

  /** The order matters: first the ledger is read, then the pods are listed. */
  async function listAll(): Promise<void> {
    const found = await store.read();
    if (found.kind === 'trouble') throw new Error(`Could not read the ledger: ${found.message}`);
    if (found.kind === 'gone') return;
    const pods = await listPods(found.object.quota);
    count = { begun: found.object, pods, isExpired: missing.isExpired };
    // What is known may be older than what was just read, and would not fit the count.
    if (known !== undefined && !isSameCount(known, found.object)) known = undefined;
  }

  function wasCounted({ state }: LedgerObject, { pods }: Count): void {
    countedAt = clock.monotonic();
    missing.update(state.reservations.keys(), pods);
  }

  function pause(): Promise<void> {
    return clock.sleep(Math.ceil(random() * LONGEST_PAUSE_MS));
  }

  return {
    reserve: (reservation, { withinMs, isDryRun }) =>
      new Promise((settle) => {
        waiting.push({ reservation, isDryRun, giveUpAt: clock.monotonic() + withinMs, settle });
        void work();
      }),
    cancel: (uid) => {
      cancelled.push(uid);
      void work();
    },
    recount: async () => {
      await prepareCount();
      await work();
    },
    openReservations: () => known?.state.reservations.size ?? 0,
  };
}

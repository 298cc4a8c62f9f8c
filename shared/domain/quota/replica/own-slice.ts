import {
  type Amounts,
  addQuantities,
  subtractQuantities,
  ZERO,
  type Quantity,
} from '#shared/domain/quantity/quantity.ts';
import {
  covers,
  isSeen,
  nameOf,
  type Reservation,
  type Slice,
  withoutClaim,
} from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedReservation } from '#shared/domain/quota/ledger/namespace-bounds.ts';
import { type PlacedSlice, DemandMeter } from '#shared/domain/quota/ledger/slices.ts';
import type {
  Cancellation,
  LedgerRecount,
  LedgerVersion,
  PendingReservation,
  ReservationResult,
  SharedSlice,
} from './apply-batch.ts';

/** The quota as last seen in the cache. */
export interface ObservedQuota {
  readonly uid: string;
  readonly generation: number;
  /** By holder. */
  readonly slices: ReadonlyMap<string, Slice>;
}

export interface OwnSliceSettings {
  /** A name that no other process ever uses. */
  readonly holder: string;
  /** A replica younger than this takes no slice: one that crashes repeatedly would leave a slice each time. */
  readonly sliceAfterMs: number;
  /** How long a slice may be spent without a successful write. */
  readonly sliceLifeMs: number;
}

/** Both clocks of this process, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** The inputs of a decision about a slice. */
export interface SliceContext {
  readonly now: Moment;
  readonly observed: ObservedQuota;
}

/** Below this demand a slice is not worth it. */
const FEWEST_PODS = 5;
/** After a recall, no slice is taken for this long. */
const COOLDOWN_MS = 30_000;
/** After the API server pruned a slice, none is taken for this long; the CRD may be updated by then. */
const FORGONE_MS = 600_000;
const RESERVED: ReservationResult = { kind: 'reserved' };

interface HeldSlice {
  /** The UID of the quota: a recreated quota has the same name and may have the same generation. */
  readonly quotaUid: string;
  readonly generation: number;
  readonly renewals: number;
  /** The number of pods that it was made for. */
  readonly pods: number;
  readonly writtenAt: Moment;
  readonly free: Map<string, Quantity>;
  /** The limits under which it was made. */
  readonly hard: Amounts;
}

interface SliceProposal extends HeldSlice {
  /** The only revision that it can replace. */
  readonly base: string;
  /** UIDs that were counted, expired or turned into reservations: no longer in the slice once this is written. */
  readonly cleared: ReadonlySet<string>;
  readonly isGivenBack: boolean;
}

/**
 * The part of a quota's room that this replica spends without a write. Only what the ledger certainly holds for this
 * replica may be spent: while a write is in progress, only what is free both with and without it. none → (write) → held
 * → (write) → … → none.
 */
export class OwnSlice {
  readonly #settings: OwnSliceSettings;
  readonly #spent = new Map<string, Reservation>();
  /** Of the pods of these charges: another creation of the same name is charged in the ledger, which knows the name. */
  readonly #names = new Set<string>();
  readonly #demand: DemandMeter;
  readonly #bornAt: number;
  #standing: HeldSlice | undefined;
  #proposal: SliceProposal | undefined;
  /** The UID of the quota in which it was last seen. */
  #quotaUid: string | undefined;
  /** The renewal number of the last write; unique, so that each write can be recognised. */
  #renewals = 0;
  #spentSince = 0;
  #cooldownUntil = -Infinity;
  #isClosed = false;

  constructor(settings: OwnSliceSettings, now: number) {
    this.#settings = settings;
    this.#bornAt = now;
    this.#demand = new DemandMeter(now);
  }

  /** Charges that have not been counted yet and have no reservation in the ledger. */
  get spent(): ReadonlyMap<string, Reservation> {
    return this.#spent;
  }

  /** Gives the slice back from now on. */
  close(): void {
    this.#isClosed = true;
  }

  /** Notes a charge that was made by a write of the ledger. */
  chargedElsewhere(amounts: Amounts, { now }: SliceContext): void {
    this.#demand.add(amounts, now.monotonic);
  }

  /**
   * Charges a pod to the slice, or in a dry run only says that it could. `undefined` if there is no room in it, or if
   * the ledger has to charge it: for a namespace that recently wasted room, and for a name that a pod has.
   */
  spend(
    { reservation, isDryRun }: PendingReservation,
    context: SliceContext,
    isForLedger: boolean,
  ): ReservationResult | undefined {
    const present = this.#spent.get(reservation.uid);
    if (present !== undefined) return isDryRun ? RESERVED : this.#again(present, reservation);
    if (this.#standing === undefined || isForLedger || this.#names.has(nameOf(reservation))) return undefined;
    const limited = limitedReservation(reservation, this.#standing.hard);
    if (!this.#mayBeSpent(this.#standing, limited.amounts, context)) return undefined;
    if (isDryRun) return RESERVED;
    this.#spent.set(reservation.uid, limited);
    this.#names.add(nameOf(limited));
    this.#spentSince += 1;
    this.#demand.add(limited.amounts, context.now.monotonic);
    this.#changeFree(limited.amounts, subtractQuantities);
    return RESERVED;
  }

  #forget(uid: string): void {
    const spent = this.#spent.get(uid);
    if (spent !== undefined) this.#names.delete(nameOf(spent));
    this.#spent.delete(uid);
  }

  /** Cancels a charge; false if it was not made here. */
  cancel({ uid, claim }: Cancellation): boolean {
    const present = this.#spent.get(uid);
    if (present === undefined || this.#proposal?.cleared.has(uid) === true) return false;
    if (claim === undefined || present.claim !== claim) return true;
    this.#forget(uid);
    this.#changeFree(present.amounts, addQuantities);
    return true;
  }

  /** The slice as input to a write over `base`; `undefined` while an earlier write may still take effect. */
  share(base: LedgerVersion, count: LedgerRecount | undefined, context: SliceContext): SharedSlice | undefined {
    if (this.#proposal !== undefined) return undefined;
    const { holder } = this.#settings;
    const stored = base.state.slices.get(holder);
    const now = context.now.monotonic;
    if (this.#isRecalled(context) || stored?.recallRequested === true) this.#cooldownUntil = now + COOLDOWN_MS;
    const over = new Set(count === undefined ? [] : this.#clearedBy(count));
    return {
      holder,
      isStored: stored !== undefined,
      renewals: this.#renewals + 1,
      spent: [...this.#spent.values()].filter(({ uid }) => !over.has(uid)),
      demand: this.#isWorthwhile(now) ? this.#demand.lately(now) : undefined,
      isDue: this.isDue(context),
      cleared: [...over],
    };
  }

  /** Notes the slice of a write over `base` that is about to be sent. */
  propose(base: LedgerVersion, shared: SharedSlice, placed: PlacedSlice, { now }: SliceContext): void {
    this.#renewals = shared.renewals;
    this.#proposal = {
      base: base.revision,
      quotaUid: base.uid,
      generation: base.generation,
      renewals: shared.renewals,
      pods: placed.pods,
      free: new Map(placed.free),
      hard: base.quota.hard,
      cleared: new Set([...shared.cleared, ...placed.adopted]),
      isGivenBack: placed.isGivenBack,
      writtenAt: now,
    };
  }

  /**
   * Determines from a later state which writes took effect: an unanswered write may still take effect until another
   * write is stored.
   */
  recognise({ uid, revision, state }: LedgerVersion): void {
    // The charges belong to a quota that no longer exists.
    if (uid !== this.#quotaUid) for (const spent of this.#spent.keys()) this.#forget(spent);
    this.#quotaUid = uid;
    const stored = state.slices.get(this.#settings.holder)?.renewals;
    const proposal = this.#proposal;
    if (proposal !== undefined && revision !== proposal.base) {
      if (stored === (proposal.isGivenBack ? undefined : proposal.renewals)) this.#confirm(proposal);
      this.#proposal = undefined;
    }
    // Our slice was given back, taken or lost: its charges become reservations, which a count then clears.
    if (stored !== this.#standing?.renewals) this.#standing = undefined;
  }

  /** The API server has refused the write: it had no effect. */
  withdraw(): void {
    this.#proposal = undefined;
  }

  /** Takes no slice for some time, because the API server does not store slices. */
  forgo({ now }: SliceContext): void {
    this.#cooldownUntil = now.monotonic + FORGONE_MS;
  }

  /** Whether the slice needs a write although no request waits. */
  isDue(context: SliceContext): boolean {
    // A write is needed to learn the fate of the last one.
    if (this.#proposal !== undefined) return true;
    const standing = this.#standing;
    if (standing === undefined) return this.#spent.size > 0;
    if (this.#isClosed || age(standing, context.now) >= this.#settings.sliceLifeMs / 2) return true;
    const isUsedUp = this.#spentSince >= standing.pods / 2 && this.#isWorthwhile(context.now.monotonic);
    return isUsedUp || this.#isRecalled(context) || isOutdated(standing, context);
  }

  /** Handles a second request for one pod: neither request knows whether the other's answer is used. */
  #again(present: Reservation, { claim }: Reservation): ReservationResult {
    if (present.claim !== undefined && present.claim === claim) return RESERVED;
    this.#spent.set(present.uid, withoutClaim(present));
    return { kind: 'alreadyReserved' };
  }

  #mayBeSpent(standing: HeldSlice, amounts: Amounts, context: SliceContext): boolean {
    if (age(standing, context.now) >= this.#settings.sliceLifeMs) return false;
    if (this.#isRecalled(context) || isOutdated(standing, context)) return false;
    return covers(standing.free, amounts) && (this.#proposal === undefined || covers(this.#proposal.free, amounts));
  }

  #changeFree(amounts: Amounts, by: typeof addQuantities): void {
    for (const free of [this.#standing?.free, this.#proposal?.free]) {
      if (free === undefined) continue;
      for (const [name, amount] of amounts) free.set(name, by(free.get(name) ?? ZERO, amount));
    }
  }

  #clearedBy({ pods, isExpired }: LedgerRecount): readonly string[] {
    const cleared = [...this.#spent.values()].filter((each) => isSeen(pods, each) || isExpired(each.uid));
    return cleared.map(({ uid }) => uid);
  }

  /** The cache may be older than our last write, so the renewal numbers are compared. */
  #isRecalled({ observed }: SliceContext): boolean {
    const heard = observed.slices.get(this.#settings.holder);
    return heard?.recallRequested === true && heard.renewals === this.#standing?.renewals;
  }

  #isWorthwhile(now: number): boolean {
    if (this.#isClosed || now - this.#bornAt < this.#settings.sliceAfterMs || now < this.#cooldownUntil) return false;
    return this.#demand.lately(now).pods >= FEWEST_PODS;
  }

  #confirm(written: SliceProposal): void {
    for (const uid of written.cleared) this.#forget(uid);
    this.#standing = written;
    this.#spentSince = 0;
  }
}

/** The limits have changed since, or the quota was recreated. */
function isOutdated({ quotaUid, generation }: HeldSlice, { observed }: SliceContext): boolean {
  return observed.uid !== quotaUid || observed.generation > generation;
}

/** The larger of both ages: suspending the machine may stop one clock, and the other may be set back. */
function age({ writtenAt }: HeldSlice, { monotonic, wall }: Moment): number {
  return Math.max(monotonic - writtenAt.monotonic, wall - writtenAt.wall);
}

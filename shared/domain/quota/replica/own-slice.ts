import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addQuantities, subtractQuantities, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';
import { withoutClaim, type Reservation } from '#shared/domain/quota/ledger/ledger-state.ts';
import { limitedReservation } from '#shared/domain/quota/ledger/limited-amounts.ts';
import type { PlacedSlice } from '#shared/domain/quota/ledger/place-slice.ts';
import { isSeen } from '#shared/domain/quota/ledger/pod-count.ts';
import { covers, type Slice } from '#shared/domain/quota/ledger/slice.ts';
import { DemandMeter } from './demand-meter.ts';
import type { LedgerVersion } from './ledger-version.ts';
import type { Cancellation, Count, PendingReservation, ReservationResult, SharedSlice } from './apply-batch.ts';

/** What the cache last heard of the quota. */
export interface ObservedQuota {
  readonly uid: string;
  readonly generation: number;
  /** By holder. */
  readonly slices: ReadonlyMap<string, Slice>;
}

export interface OwnSliceSettings {
  /** A name that no other process has or will have. */
  readonly holder: string;
  /** A replica younger than this takes none: one that dies again and again would leave a slice each time. */
  readonly sliceAfterMs: number;
  /** How long a slice may be spent without a successful write. */
  readonly sliceLifeMs: number;
}

/** Both clocks of this process, in milliseconds. */
export interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/** What a decision about a slice looks at. */
export interface SliceContext {
  readonly now: Moment;
  readonly observed: ObservedQuota;
}

/** Less is not worth it. */
const FEWEST_PODS = 5;
/** After a slice was recalled, no other is taken for so long. */
const COOLDOWN_MS = 30_000;
/** An administrator has brought the CRD up to date by then, perhaps. */
const FORGONE_MS = 600_000;
const RESERVED: ReservationResult = { kind: 'reserved' };

interface HeldSlice {
  /** Of the quota: one that was made anew has the same name and the same generation. */
  readonly quotaUid: string;
  readonly generation: number;
  readonly renewals: number;
  /** How many pods it was made for. */
  readonly pods: number;
  readonly writtenAt: Moment;
  readonly free: Map<string, Quantity>;
  /** The limits that it was made under. */
  readonly hard: Amounts;
}

interface Proposal extends HeldSlice {
  /** The only revision over which it can be written. */
  readonly base: string;
  /** Counted, expired or put among the reservations: no longer ours once this is written. */
  readonly cleared: ReadonlySet<string>;
  readonly isGivenBack: boolean;
}

/**
 * The part of a quota's room that this replica spends without a write. What may be spent is always what the ledger
 * certainly holds for us: while a write is under way, only what is free both with it and without it.
 * none → (write) → standing → (write) → … → none.
 */
export class OwnSlice {
  readonly #settings: OwnSliceSettings;
  readonly #spent = new Map<string, Reservation>();
  readonly #demand: DemandMeter;
  readonly #bornAt: number;
  #standing: HeldSlice | undefined;
  #proposal: Proposal | undefined;
  /** Of the quota that it was last seen in. */
  #quotaUid: string | undefined;
  /** Of the last write: none comes twice, so that each can be recognised. */
  #renewals = 0;
  #spentSince = 0;
  #cooldownUntil = -Infinity;
  #isClosed = false;

  constructor(settings: OwnSliceSettings, now: number) {
    this.#settings = settings;
    this.#bornAt = now;
    this.#demand = new DemandMeter(now);
  }

  /** Charges that have not been counted yet, for which there is no reservation in the ledger. */
  get spent(): ReadonlyMap<string, Reservation> {
    return this.#spent;
  }

  /** From now on it is given back. */
  close(): void {
    this.#isClosed = true;
  }

  /** Hears of a charge that was made elsewhere in the ledger. */
  chargedElsewhere(amounts: Amounts, { now }: SliceContext): void {
    this.#demand.add(amounts, now.monotonic);
  }

  /**
   * Charges a pod to it, or in a dry run only says that it could; `undefined` where there is no room in it, and for a
   * namespace that has wasted room lately: that is charged where every replica sees it.
   */
  spend(
    { reservation, isDryRun }: PendingReservation,
    context: SliceContext,
    isIndebted: boolean,
  ): ReservationResult | undefined {
    const present = this.#spent.get(reservation.uid);
    if (present !== undefined) return isDryRun ? RESERVED : this.#again(present, reservation);
    if (this.#standing === undefined || isIndebted) return undefined;
    const limited = limitedReservation(reservation, this.#standing.hard);
    if (!this.#mayBeSpent(this.#standing, limited.amounts, context)) return undefined;
    if (isDryRun) return RESERVED;
    this.#spent.set(reservation.uid, limited);
    this.#spentSince += 1;
    this.#demand.add(limited.amounts, context.now.monotonic);
    this.#changeFree(limited.amounts, subtractQuantities);
    return RESERVED;
  }

  /** Takes back what was spent; false where it was not spent here. */
  cancel({ uid, claim }: Cancellation): boolean {
    const present = this.#spent.get(uid);
    if (present === undefined || this.#proposal?.cleared.has(uid) === true) return false;
    if (claim === undefined || present.claim !== claim) return true;
    this.#spent.delete(uid);
    this.#changeFree(present.amounts, addQuantities);
    return true;
  }

  /** What it brings to a write over `base`; `undefined` while an earlier write may still take effect. */
  share(base: LedgerVersion, count: Count | undefined, context: SliceContext): SharedSlice | undefined {
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

  /** What a write over `base` that is about to be sent makes of it. */
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

  /** Finds out from a later state which writes took effect: one without an answer may as long as nobody has written since. */
  recognise({ uid, revision, state }: LedgerVersion): void {
    if (uid !== this.#quotaUid) this.#forget();
    this.#quotaUid = uid;
    const stored = state.slices.get(this.#settings.holder)?.renewals;
    const proposal = this.#proposal;
    if (proposal !== undefined && revision !== proposal.base) {
      if (stored === (proposal.isGivenBack ? undefined : proposal.renewals)) this.#confirm(proposal);
      this.#proposal = undefined;
    }
    // Taken from us, or lost: what was spent is put among the reservations, where a count finds out about it.
    if (stored !== this.#standing?.renewals) this.#standing = undefined;
  }

  /** The API server has refused the write: nothing of it took effect. */
  withdraw(): void {
    this.#proposal = undefined;
  }

  /** Takes none for some time: the API server does not store them. */
  forgo({ now }: SliceContext): void {
    this.#cooldownUntil = now.monotonic + FORGONE_MS;
  }

  /** Whether it should be written now though nobody waits for it. */
  isDue(context: SliceContext): boolean {
    // To be found out what became of it.
    if (this.#proposal !== undefined) return true;
    const standing = this.#standing;
    if (standing === undefined) return this.#spent.size > 0;
    if (this.#isClosed || age(standing, context.now) >= this.#settings.sliceLifeMs / 2) return true;
    const isUsedUp = this.#spentSince >= standing.pods / 2 && this.#isWorthwhile(context.now.monotonic);
    return isUsedUp || this.#isRecalled(context) || isOutdated(standing, context);
  }

  /** Neither of two requests for one pod knows whether the other one's answer counts. */
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

  #clearedBy({ pods, isExpired }: Count): readonly string[] {
    const cleared = [...this.#spent.values()].filter((each) => isSeen(pods, each) || isExpired(each.uid));
    return cleared.map(({ uid }) => uid);
  }

  /** What the cache says may be older than our last write. */
  #isRecalled({ observed }: SliceContext): boolean {
    const heard = observed.slices.get(this.#settings.holder);
    return heard?.recallRequested === true && heard.renewals === this.#standing?.renewals;
  }

  #isWorthwhile(now: number): boolean {
    if (this.#isClosed || now - this.#bornAt < this.#settings.sliceAfterMs || now < this.#cooldownUntil) return false;
    return this.#demand.lately(now).pods >= FEWEST_PODS;
  }

  /** What was spent was charged to a quota that is no more. */
  #forget(): void {
    this.#standing = undefined;
    this.#proposal = undefined;
    this.#spent.clear();
  }

  #confirm(written: Proposal): void {
    for (const uid of written.cleared) this.#spent.delete(uid);
    this.#standing = written.isGivenBack ? undefined : written;
    this.#spentSince = 0;
  }
}

/** The limits have been changed since, or the quota is another one. */
function isOutdated({ quotaUid, generation }: HeldSlice, { observed }: SliceContext): boolean {
  return observed.uid !== quotaUid || observed.generation > generation;
}

/** A machine that slept may have stopped one clock, and the other may have been set back. */
function age({ writtenAt }: HeldSlice, { monotonic, wall }: Moment): number {
  return Math.max(monotonic - writtenAt.monotonic, wall - writtenAt.wall);
}

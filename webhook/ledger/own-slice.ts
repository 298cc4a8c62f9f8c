import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addQuantities, subtractQuantities, ZERO, type Quantity } from '#shared/domain/model/quantity.ts';
import { withoutClaim, type Reservation } from '#shared/domain/quota/ledger-state.ts';
import type { OwnShare, PlacedSlice } from '#shared/domain/quota/place-slice.ts';
import { limitedReservation } from '#shared/domain/quota/limited-amounts.ts';
import { isSeen } from '#shared/domain/quota/pod-count.ts';
import { covers, type Slice } from '#shared/domain/quota/slice.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { createDemandMeter } from './demand-meter.ts';
import type { LedgerObject } from './ledger-object.ts';
import type { Count, Settled, Wish } from './settle-batch.ts';

/** The part of a quota's room that this replica spends without a write. */
export interface OwnSlice {
  /** Charges a pod to it, or in a dry run only says that it could; `undefined` where there is no room in it. */
  spend(wish: Wish): Settled | undefined;
  /** Takes back what was spent; false where it was not spent here. */
  cancel(reservation: Reservation): boolean;
  /** Hears of a charge that was made elsewhere in the ledger. */
  hearCharge(amounts: Amounts): void;
  /** What it brings to a write over `base`; `undefined` while an earlier write may still take effect. */
  share(base: LedgerObject, count: Count | undefined): SharedSlice | undefined;
  /** What a write over `base` that is about to be sent makes of it. */
  propose(base: LedgerObject, shared: SharedSlice, placed: PlacedSlice): void;
  /** The API server has refused the write: nothing of it took effect. */
  withdraw(): void;
  /** Finds out from a later state of the ledger which writes took effect. */
  recognise(object: LedgerObject): void;
  /** Takes none for some time: the API server does not store them. */
  forgo(): void;
  /** Whether it should be written now though nobody waits for it. */
  isDue(): boolean;
  /** Reservations whose pods have not been counted yet, and their UIDs. */
  readonly outstanding: () => Iterable<Reservation>;
  readonly spent: () => Iterable<string>;
  /** From now on it is given back. */
  close(): void;
}

/** A share, and what of it is over. */
export interface SharedSlice extends OwnShare {
  readonly isDue: boolean;
  /** UIDs that were counted or have expired. */
  readonly settled: readonly string[];
}

/** What the cache last heard of the quota. */
export interface QuotaNews {
  readonly uid: string;
  readonly generation: number;
  /** By holder. */
  readonly slices: ReadonlyMap<string, Slice>;
}

export interface OwnSliceOptions {
  /** A name that no other process has or will have. */
  readonly holder: string;
  readonly news: () => QuotaNews;
  /** Whether a namespace has wasted room lately: then it is charged where every replica sees it. */
  readonly isIndebted: (namespace: string) => boolean;
  /** A replica younger than this takes none: one that dies again and again would leave a slice each time. */
  readonly afterMs: number;
  /** How long it may be spent without a successful write. */
  readonly lifeMs: number;
  readonly clock: Clock;
}

/** Less is not worth it. */
const FEWEST_PODS = 5;
/** Who was asked for his slice takes no other for so long. */
const MODESTY_MS = 30_000;
/** An administrator has brought the CRD up to date by then, perhaps. */
const FORGONE_MS = 600_000;

interface Standing {
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

interface Proposal extends Standing {
  /** The only revision over which it can be written. */
  readonly base: string | undefined;
  /** Counted, expired or put among the reservations: no longer ours once this is written. */
  readonly settled: ReadonlySet<string>;
  readonly isGivenBack: boolean;
}

interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

/**
 * What may be spent is always what the ledger certainly holds for us: while a write is under way, only what is free
 * both with it and without it. none → (write) → standing → (write) → … → none.
 */
export function createOwnSlice(options: OwnSliceOptions): OwnSlice {
  const { holder, news, isIndebted, clock, afterMs, lifeMs } = options;
  const demand = createDemandMeter(clock);
  const spent = new Map<string, Reservation>();
  const bornAt = clock.monotonic();
  let standing: Standing | undefined;
  let proposal: Proposal | undefined;
  /** Of the quota that it was last seen in. */
  let quotaUid: string | undefined;
  /** Of the last write: none comes twice, so that each can be recognised. */
  let renewals = 0;
  let spentSince = 0;
  let modestUntil = -Infinity;
  let isClosed = false;

  function spend({ reservation, isDryRun }: Wish): Settled | undefined {
    const present = spent.get(reservation.uid);
    if (present !== undefined) return isDryRun ? { kind: 'reserved' } : again(present, reservation);
    if (standing === undefined || isIndebted(reservation.namespace)) return undefined;
    const limited = limitedReservation(reservation, standing.hard);
    if (!mayBeSpent(standing, limited.amounts)) return undefined;
    if (isDryRun) return { kind: 'reserved' };
    spent.set(reservation.uid, limited);
    spentSince += 1;
    demand.add(limited.amounts);
    changeFree(limited.amounts, subtractQuantities);
    return { kind: 'reserved' };
  }

  /** Neither of two requests for one pod knows whether the other one's answer counts. */
  function again(present: Reservation, { claim }: Reservation): Settled {
    if (present.claim !== undefined && present.claim === claim) return { kind: 'reserved' };
    spent.set(present.uid, withoutClaim(present));
    return { kind: 'alreadyReserved' };
  }

  function mayBeSpent(from: Standing, amounts: Amounts): boolean {
    if (age(from) >= lifeMs || isWanted() || isOutdated(from)) return false;
    return covers(from.free, amounts) && (proposal === undefined || covers(proposal.free, amounts));
  }

  /** The limits have been changed since, or the quota is another one. */
  function isOutdated({ quotaUid, generation }: Standing): boolean {
    const told = news();
    return told.uid !== quotaUid || told.generation > generation;
  }

  function changeFree(amounts: Amounts, by: typeof addQuantities): void {
    for (const free of [standing?.free, proposal?.free]) {
      if (free === undefined) continue;
      for (const [name, amount] of amounts) free.set(name, by(free.get(name) ?? ZERO, amount));
    }
  }

  function cancel({ uid, claim }: Reservation): boolean {
    const present = spent.get(uid);
    if (present === undefined || proposal?.settled.has(uid) === true) return false;
    if (claim === undefined || present.claim !== claim) return true;
    spent.delete(uid);
    changeFree(present.amounts, addQuantities);
    return true;
  }

  function share(base: LedgerObject, count: Count | undefined): SharedSlice | undefined {
    if (proposal !== undefined) return undefined;
    const stored = base.state.slices.get(holder);
    if (isWanted() || stored?.isWanted === true) modestUntil = clock.monotonic() + MODESTY_MS;
    const settled = count === undefined ? [] : [...spent.values()].filter((each) => isSettledBy(count, each));
    const over = new Set(settled.map(({ uid }) => uid));
    return {
      holder,
      isStanding: stored !== undefined,
      renewals: renewals + 1,
      spent: [...spent.values()].filter(({ uid }) => !over.has(uid)),
      demand: isWelcome() ? demand.lately() : undefined,
      isDue: isDue(),
      settled: [...over],
    };
  }

  /** What the cache says may be older than our last write. */
  function isWanted(): boolean {
    const told = news().slices.get(holder);
    return told?.isWanted === true && told.renewals === standing?.renewals;
  }

  function isWelcome(): boolean {
    const now = clock.monotonic();
    return !isClosed && now - bornAt >= afterMs && now >= modestUntil && demand.lately().pods >= FEWEST_PODS;
  }

  function propose({ raw, quota }: LedgerObject, shared: SharedSlice, placed: PlacedSlice): void {
    renewals = shared.renewals;
    proposal = {
      base: raw.metadata.resourceVersion,
      quotaUid: uidOf(raw),
      generation: raw.metadata.generation ?? 0,
      renewals,
      pods: placed.pods,
      free: new Map(placed.free),
      hard: quota.hard,
      settled: new Set([...shared.settled, ...placed.adopted]),
      isGivenBack: placed.isGivenBack,
      writtenAt: moment(),
    };
  }

  /** A write that was not answered may take effect as long as nobody has written since. */
  function recognise({ raw, state }: LedgerObject): void {
    if (quotaUid !== uidOf(raw)) forget();
    quotaUid = uidOf(raw);
    const stored = state.slices.get(holder)?.renewals;
    if (proposal !== undefined && raw.metadata.resourceVersion !== proposal.base) {
      if (stored === (proposal.isGivenBack ? undefined : proposal.renewals)) confirm(proposal);
      proposal = undefined;
    }
    // Taken from us, or lost: what was spent is put among the reservations, where a count finds out about it.
    if (stored !== standing?.renewals) standing = undefined;
  }

  /** What was spent was charged to a quota that is no more. */
  function forget(): void {
    standing = undefined;
    proposal = undefined;
    spent.clear();
  }

  function confirm(written: Proposal): void {
    for (const uid of written.settled) spent.delete(uid);
    standing = written.isGivenBack ? undefined : written;
    spentSince = 0;
  }

  function isDue(): boolean {
    // To be found out what became of it.
    if (proposal !== undefined) return true;
    if (standing === undefined) return spent.size > 0;
    if (isClosed || age(standing) >= lifeMs / 2) return true;
    return isWanted() || isOutdated(standing) || (spentSince >= standing.pods / 2 && isWelcome());
  }

  function age({ writtenAt }: Standing): number {
    const { monotonic, wall } = moment();
    // A machine that slept may have stopped one clock, and the other may have been set back.
    return Math.max(monotonic - writtenAt.monotonic, wall - writtenAt.wall);
  }

  function moment(): Moment {
    return { monotonic: clock.monotonic(), wall: clock.now() };
  }

  return {
    spend,
    cancel,
    hearCharge: (amounts) => demand.add(amounts),
    share,
    propose,
    recognise,
    isDue,
    withdraw: () => void (proposal = undefined),
    forgo: () => void (modestUntil = clock.monotonic() + FORGONE_MS),
    outstanding: () => spent.values(),
    spent: () => spent.keys(),
    close: () => void (isClosed = true),
  };
}

function uidOf({ metadata }: LedgerObject['raw']): string {
  return metadata.uid ?? '';
}

function isSettledBy({ pods, isExpired }: Count, reservation: Reservation): boolean {
  return isSeen(pods, reservation) || isExpired(reservation.uid);
}

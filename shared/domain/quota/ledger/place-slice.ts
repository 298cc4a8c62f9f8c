import type { Amounts } from '#shared/domain/model/amounts.ts';
import { NO_AMOUNTS } from '#shared/domain/model/amounts.ts';
import { openLedger } from './ledger.ts';
import { ledgerPlaces } from './ledger-size.ts';
import { limitedAmounts, sumOfKnown } from './limited-amounts.ts';
import type { LedgerState, Reservation } from './ledger-state.ts';
import { sizeSlice, type Demand, type Grant } from './slice.ts';
import { roomLeft, withSlice } from './slices.ts';

/** What a replica brings of its slice to a write. */
export interface OwnShare {
  readonly holder: string;
  /** Whether there is a slice of it in the ledger. */
  readonly isStored: boolean;
  /** Of the slice once it is written. */
  readonly renewals: number;
  /** Charged to the slice and not yet counted. */
  readonly spent: readonly Reservation[];
  /** What it has to serve alone; `undefined` when it should have no slice. */
  readonly demand: Demand | undefined;
}

/** What became of it. */
export interface PlacedSlice {
  readonly state: LedgerState;
  /** What may be spent, and for how many pods it was made; nothing and 0 where it is given back. */
  readonly free: Amounts;
  readonly pods: number;
  /** UIDs of what was spent and stands among the reservations now. */
  readonly adopted: readonly string[];
  /** Whether nothing of the slice is left. */
  readonly isGivenBack: boolean;
}

/** The ledger with only that in a replica's slice which it has spent: the rest is free for everybody. */
export function withoutFree(state: LedgerState, { holder, isStored, spent, renewals }: OwnShare): LedgerState {
  if (!isStored) return state;
  return withSlice(state, { holder, amounts: sumOfKnown(amountsOf(spent)), renewals, recallRequested: false });
}

/**
 * Gives a replica the slice that it needs, or takes it apart into reservations, which everybody can settle, when it needs
 * none or there is too little room; `undefined` where there is nothing to be done. `state` is one `withoutFree`.
 */
export function placeSlice(state: LedgerState, hard: Amounts, own: OwnShare): PlacedSlice | undefined {
  const grant = grantOf(state, hard, own);
  if (grant !== undefined) return enlarged(state, own, grant);
  return own.isStored || own.spent.length > 0 ? takenApart(state, hard, own) : undefined;
}

function grantOf(state: LedgerState, hard: Amounts, { isStored, demand }: OwnShare): Grant | undefined {
  if (demand === undefined) return undefined;
  if (!isStored && state.slices.size >= ledgerPlaces(hard).slices) return undefined;
  return sizeSlice({ ...demand, largest: limitedAmounts(demand.largest, hard) }, roomLeft(state, hard));
}

function enlarged(state: LedgerState, own: OwnShare, grant: Grant): PlacedSlice {
  const { holder, renewals } = own;
  const amounts = sumOfKnown([grant.amounts, ...amountsOf(own.spent)]);
  return {
    state: withSlice(state, { holder, amounts, renewals, recallRequested: false }),
    free: grant.amounts,
    pods: grant.pods,
    adopted: [],
    isGivenBack: false,
  };
}

function takenApart(state: LedgerState, hard: Amounts, { holder, spent, renewals }: OwnShare): PlacedSlice {
  const none = { holder, amounts: NO_AMOUNTS, renewals, recallRequested: false };
  const ledger = openLedger(withSlice(state, none), hard);
  const adopted = new Set(spent.filter((each) => ledger.adopt(each)).map(({ uid }) => uid));
  const rest = spent.filter(({ uid }) => !adopted.has(uid));
  return {
    state: withSlice(ledger.state(), { ...none, amounts: sumOfKnown(amountsOf(rest)) }),
    free: NO_AMOUNTS,
    pods: 0,
    adopted: [...adopted],
    isGivenBack: rest.length === 0,
  };
}

function amountsOf(reservations: readonly Reservation[]): readonly Amounts[] {
  return reservations.map(({ amounts }) => amounts);
}

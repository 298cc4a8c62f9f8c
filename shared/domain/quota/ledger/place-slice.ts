import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import { Ledger } from './ledger.ts';
import { ledgerPlaces } from './ledger-size.ts';
import { limitedAmounts, sumOfKnown } from './limited-amounts.ts';
import type { LedgerState, Reservation } from './ledger-state.ts';
import { sizeSlice, type Demand, type Grant } from './slice.ts';
import { roomLeft, withSlice } from './slices.ts';

/** A replica's slice as input to a write. */
export interface OwnShare {
  readonly holder: string;
  /** Whether the ledger has a slice of this replica. */
  readonly isStored: boolean;
  /** The slice's renewal number after the write. */
  readonly renewals: number;
  /** Charged to the slice and not yet counted. */
  readonly spent: readonly Reservation[];
  /** The demand that the slice should cover; `undefined` if the replica should have no slice. */
  readonly demand: Demand | undefined;
}

/** The slice after a write. */
export interface PlacedSlice {
  readonly state: LedgerState;
  /** What may be spent, and for how many pods; empty and 0 if it is given back. */
  readonly free: Amounts;
  readonly pods: number;
  /** UIDs of charges that are reservations now. */
  readonly adopted: readonly string[];
  /** Whether the slice is given back completely. */
  readonly isGivenBack: boolean;
}

/** The ledger in which a replica's slice contains only what it has spent; the rest is free. */
export function withoutFree(state: LedgerState, { holder, isStored, spent, renewals }: OwnShare): LedgerState {
  if (!isStored) return state;
  return withSlice(state, { holder, amounts: sumOfKnown(amountsOf(spent)), renewals, recallRequested: false });
}

/**
 * Gives a replica the slice that it needs. If it needs none or there is too little room, turns its charges into
 * reservations, which every replica can clear. `undefined` if there is nothing to do. `state` comes from `withoutFree`.
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
  const ledger = new Ledger(withSlice(state, none), hard);
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

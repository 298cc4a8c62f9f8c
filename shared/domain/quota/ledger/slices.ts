import {
  addAmounts,
  type Amounts,
  NO_AMOUNTS,
  maxAmounts,
  addQuantities,
  compareQuantities,
  subtractQuantities,
  ZERO,
} from '#shared/domain/quantity/quantity.ts';
import type { Excess } from '#shared/domain/quota/priority-quota.ts';
import {
  type Demand,
  type Grant,
  type LedgerState,
  type Reservation,
  sizeSlice,
  type Slice,
  covers,
} from './ledger-state.ts';
import { Ledger } from './ledger.ts';
import { ledgerPlaces, limitedAmounts, sumOfKnown } from './namespace-bounds.ts';

/** The ledger with a slice replaced; an empty slice is removed. Does not check limits. */
export function withSlice(state: LedgerState, slice: Slice): LedgerState {
  const { holder, amounts } = slice;
  const slices = new Map(state.slices);
  const before = slices.get(holder)?.amounts ?? NO_AMOUNTS;
  if (amounts.size === 0) slices.delete(holder);
  else slices.set(holder, slice);
  return { ...state, used: moved(state.used, before, amounts), slices };
}

/** The ledger in which the slices of all holders but one are recalled; the same state if they already are. */
export function requestRecall(state: LedgerState, exceptHolder: string | undefined): LedgerState {
  const isUnasked = ({ holder, recallRequested }: Slice): boolean => holder !== exceptHolder && !recallRequested;
  if (![...state.slices.values()].some(isUnasked)) return state;
  const slices = new Map(state.slices);
  for (const slice of state.slices.values()) {
    if (isUnasked(slice)) slices.set(slice.holder, { ...slice, recallRequested: true });
  }
  return { ...state, slices };
}

/** Whether there would be room without the slices of all other holders. */
export function isHeldElsewhere(
  excesses: readonly Excess[],
  { slices }: LedgerState,
  holder: string | undefined,
): boolean {
  const others = sumOfSlices([...slices.values()].filter((slice) => slice.holder !== holder));
  return excesses.every(({ resource, asked, used, hard }) => {
    const without = subtractQuantities(used, others.get(resource) ?? ZERO);
    return compareQuantities(addQuantities(without, asked), hard) <= 0;
  });
}

/** The free amount of every limited resource; negative if the quota is exceeded, zero if the usage is unknown. */
function roomLeft({ used }: LedgerState, hard: Amounts): Amounts {
  return new Map(Array.from(hard, ([name, limit]) => [name, subtractQuantities(limit, used.get(name) ?? limit)]));
}

/** The sum of all slices. */
function sumOfSlices(slices: Iterable<Slice>): Amounts {
  let sum = NO_AMOUNTS;
  for (const { amounts } of slices) sum = addAmounts(sum, amounts);
  return sum;
}

/** A sum with one part replaced, limited to the resources that both the sum and the new part have. */
function moved(sum: Amounts, before: Amounts, after: Amounts): Amounts {
  const known = [...sum].filter(([name]) => after.size === 0 || after.has(name));
  return new Map(
    known.map(([name, amount]) => [
      name,
      addQuantities(subtractQuantities(amount, before.get(name) ?? ZERO), after.get(name) ?? ZERO),
    ]),
  );
}

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

const WINDOW_MS = 5_000;
const NOTHING: Demand = { pods: 0, largest: NO_AMOUNTS };

/** The recent charges: in the current and the previous window of five seconds. Times are monotonic. */
export class DemandMeter {
  #before = NOTHING;
  #present = NOTHING;
  #begunAt: number;

  constructor(now: number) {
    this.#begunAt = now;
  }

  add(amounts: Amounts, now: number): void {
    this.#moveOn(now);
    this.#present = { pods: this.#present.pods + 1, largest: largest(this.#present.largest, amounts) };
  }

  lately(now: number): Demand {
    this.#moveOn(now);
    return {
      pods: this.#before.pods + this.#present.pods,
      largest: largest(this.#before.largest, this.#present.largest),
    };
  }

  #moveOn(now: number): void {
    const passed = now - this.#begunAt;
    if (passed < WINDOW_MS) return;
    this.#before = passed < 2 * WINDOW_MS ? this.#present : NOTHING;
    this.#present = NOTHING;
    this.#begunAt = now;
  }
}

/** The same map if nothing is larger, as with identical pods. */
function largest(known: Amounts, amounts: Amounts): Amounts {
  return covers(known, amounts) ? known : maxAmounts(known, amounts);
}

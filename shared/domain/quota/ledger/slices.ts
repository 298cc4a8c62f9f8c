import type { Amounts } from '#shared/domain/quantity/amounts.ts';
import { addAmounts, NO_AMOUNTS } from '#shared/domain/quantity/amounts.ts';
import { addQuantities, compareQuantities, subtractQuantities, ZERO } from '#shared/domain/quantity/quantity.ts';
import type { LedgerState } from './ledger-state.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import type { Slice } from './slice.ts';

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
export function roomLeft({ used }: LedgerState, hard: Amounts): Amounts {
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

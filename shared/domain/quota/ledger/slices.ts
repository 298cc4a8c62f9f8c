import type { Amounts } from '#shared/domain/model/amounts.ts';
import { addAmounts, NO_AMOUNTS } from '#shared/domain/model/amounts.ts';
import { addQuantities, compareQuantities, subtractQuantities, ZERO } from '#shared/domain/model/quantity.ts';
import type { LedgerState } from './ledger-state.ts';
import type { Excess } from '#shared/domain/quota/refusal.ts';
import type { Slice } from './slice.ts';

/** The ledger with a slice in place of what its holder had; one of nothing is taken out. Looks at no limit. */
export function withSlice(state: LedgerState, slice: Slice): LedgerState {
  const { holder, amounts } = slice;
  const slices = new Map(state.slices);
  const before = slices.get(holder)?.amounts ?? NO_AMOUNTS;
  if (amounts.size === 0) slices.delete(holder);
  else slices.set(holder, slice);
  return { ...state, used: moved(state.used, before, amounts), slices };
}

/** The ledger in which everybody but one is asked to give back his slice; the same where all have been asked. */
export function requestRecall(state: LedgerState, exceptHolder: string | undefined): LedgerState {
  const isUnasked = ({ holder, recallRequested }: Slice): boolean => holder !== exceptHolder && !recallRequested;
  if (![...state.slices.values()].some(isUnasked)) return state;
  const slices = new Map(state.slices);
  for (const slice of state.slices.values()) {
    if (isUnasked(slice)) slices.set(slice.holder, { ...slice, recallRequested: true });
  }
  return { ...state, slices };
}

/** Whether there would be room if the slices of all others were nothing. */
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

/** What is free of every limited resource; below zero where the quota is exceeded, nothing where use is not known. */
export function roomLeft({ used }: LedgerState, hard: Amounts): Amounts {
  return new Map(Array.from(hard, ([name, limit]) => [name, subtractQuantities(limit, used.get(name) ?? limit)]));
}

/** What all of them hold together. */
function sumOfSlices(slices: Iterable<Slice>): Amounts {
  let sum = NO_AMOUNTS;
  for (const { amounts } of slices) sum = addAmounts(sum, amounts);
  return sum;
}

/** A sum, limited to the resources that it has and that the new part tells, with one part of it replaced. */
function moved(sum: Amounts, before: Amounts, after: Amounts): Amounts {
  const known = [...sum].filter(([name]) => after.size === 0 || after.has(name));
  return new Map(
    known.map(([name, amount]) => [
      name,
      addQuantities(subtractQuantities(amount, before.get(name) ?? ZERO), after.get(name) ?? ZERO),
    ]),
  );
}

import { addTo, minus, plus, shareOf, type Whole } from '#shared/domain/quantity/whole.ts';

/** The bounds of one queue in one resource type; the ceiling is not below the floor, and nothing is negative. */
export interface ShareBounds {
  readonly weight: number;
  readonly floor: Whole;
  readonly ceiling: Whole;
}

/** The bounds with this number. */
export function shareAt(shares: readonly ShareBounds[], index: number): ShareBounds {
  return shares[index] as ShareBounds;
}

/** Undecided shares, by number, and what is left for them. */
interface OpenShares {
  readonly shares: readonly ShareBounds[];
  /** Decided amounts. */
  readonly amounts: Whole[];
  open: number[];
  /** Total weight of the open shares. */
  weight: number;
  rest: Whole;
}

/** One open share at the level that all open ones would reach on their own. */
interface SplitByLevel {
  readonly above: number[];
  readonly below: number[];
  readonly between: number[];
}

/**
 * Divides a total by weight between floors and ceilings: there is one level such that weight × level, clamped between
 * floor and ceiling, adds up to the total. If the floors alone exceed the total, each share gets its floor; if the
 * ceilings do not reach it, each gets its ceiling; without a weight, a share gets its floor. The amounts are integers
 * that add up exactly, each less than one unit from the exact share.
 *
 * Each round tries the level that the open shares reach on their own, and decides the shares on the side where the sum
 * is wrong. The gap to the level shrinks with each round, so that few rounds are needed.
 */
export function fillToLevel(shares: readonly ShareBounds[], total: Whole): readonly Whole[] {
  const state = openShares(shares, total);
  if (state.rest <= sumOf(state, ({ floor }) => floor)) return state.amounts;
  if (state.rest >= sumOf(state, ({ ceiling }) => ceiling)) decide(state, state.open, ({ ceiling }) => ceiling);
  while (state.open.length > 0) fillOnce(state);
  return state.amounts;
}

function openShares(shares: readonly ShareBounds[], total: Whole): OpenShares {
  const amounts: Whole[] = [];
  const open: number[] = [];
  let weight = 0;
  let rest = total;
  for (const [index, share] of shares.entries()) {
    amounts.push(share.floor);
    if (share.weight > 0 && share.ceiling > share.floor) {
      open.push(index);
      weight += share.weight;
    } else rest = minus(rest, share.floor);
  }
  return { shares, amounts, open, weight, rest };
}

function sumOf({ open, shares }: OpenShares, amountOf: (share: ShareBounds) => Whole): Whole {
  let sum: Whole = 0;
  for (const index of open) sum = plus(sum, amountOf(shareAt(shares, index)));
  return sum;
}

function fillOnce(state: OpenShares): void {
  const { above, below, between } = compareWithLevel(state);
  if (above.length + below.length === 0) {
    divide(state);
  } else if (isLevelTooHigh(state, below, above)) {
    state.open = between.concat(above);
    decide(state, below, ({ floor }) => floor);
  } else {
    state.open = between.concat(below);
    decide(state, above, ({ ceiling }) => ceiling);
  }
}

/** Below the level: shares held at their floor. Above: shares held at their ceiling. */
function compareWithLevel({ open, rest, shares, weight }: OpenShares): SplitByLevel {
  const level: SplitByLevel = { above: [], below: [], between: [] };
  for (const index of open) {
    const share = shareAt(shares, index);
    const amount = shareOf(rest, share.weight, weight);
    if (amount < share.floor) level.below.push(index);
    else if (amount >= share.ceiling) level.above.push(index);
    else level.between.push(index);
  }
  return level;
}

/** Whether the bounded amounts take more than the level gives to their weights; the other shares are at the level. */
function isLevelTooHigh(state: OpenShares, below: readonly number[], above: readonly number[]): boolean {
  let bounded: Whole = 0;
  let weight = 0;
  for (const index of below) {
    bounded = plus(bounded, shareAt(state.shares, index).floor);
    weight += shareAt(state.shares, index).weight;
  }
  for (const index of above) {
    bounded = plus(bounded, shareAt(state.shares, index).ceiling);
    weight += shareAt(state.shares, index).weight;
  }
  return bounded > shareOf(state.rest, weight, state.weight);
}

function decide(state: OpenShares, indexes: readonly number[], amountOf: (share: ShareBounds) => Whole): void {
  if (state.open === indexes) state.open = [];
  for (const index of indexes) {
    const share = shareAt(state.shares, index);
    const amount = amountOf(share);
    state.amounts[index] = amount;
    state.rest = minus(state.rest, amount);
    state.weight -= share.weight;
  }
}

/**
 * Gives each open share what its weight is worth; units left over from rounding go to the first shares that were
 * rounded.
 */
function divide(state: OpenShares): void {
  const { amounts, open, rest, shares, weight } = state;
  let left = rest;
  for (const index of open) {
    const amount = shareOf(rest, shareAt(shares, index).weight, weight);
    amounts[index] = amount;
    left = minus(left, amount);
  }
  for (const index of open) {
    if (left <= 0) break;
    if (!isRounded(rest, shareAt(shares, index).weight, weight)) continue;
    addTo(amounts, index, 1);
    left = minus(left, 1);
  }
  state.open = [];
}

function isRounded(amount: Whole, part: number, whole: number): boolean {
  const product = typeof amount === 'number' ? (amount % whole) * part : Infinity;
  if (Number.isSafeInteger(product)) return product % whole !== 0;
  return (BigInt(amount) * BigInt(part)) % BigInt(whole) !== 0n;
}

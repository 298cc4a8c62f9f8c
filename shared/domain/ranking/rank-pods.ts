import type { Candidate } from './candidate.ts';
import type { RankingKey, RankingOrder } from './ranking-order.ts';

/**
 * Candidates in the order of eviction. Each key is computed once per pod, then plain numbers are compared. Candidates
 * that no key distinguishes keep the given order; an order that ends in `uid` has no such candidates.
 */
export function rankPods(candidates: readonly Candidate[], order: RankingOrder): readonly Candidate[] {
  const { first, second, rest } = rankColumns(order);
  const rows = candidates.map((candidate) => ({ candidate, first: first(candidate), second: second(candidate) }));
  rows.sort(
    (left, right) =>
      compareSortKeys(left.first, right.first) ||
      compareSortKeys(left.second, right.second) ||
      rest(left.candidate, right.candidate),
  );
  return rows.map(({ candidate }) => candidate);
}

/** The first key that distinguishes two candidates. */
export function decidingKey(left: Candidate, right: Candidate, order: RankingOrder): RankingKey | undefined {
  return order.find((key) => compareByKey(left, right, key) !== 0);
}

/** Two numbers per pod, each combining several keys, and what decides between pods with equal numbers. */
export interface RankColumns {
  readonly first: RankingKey['sortKey'];
  readonly second: RankingKey['sortKey'];
  readonly rest: (left: Candidate, right: Candidate) => number;
}

/** One number per pod for one key, or for several consecutive keys. */
interface Pack extends Pick<RankingKey, 'sortKey' | 'refine'> {
  /** How many different values there are; infinite if unknown. */
  readonly places: number;
}

/** Whole numbers up to here are exact in a double. */
const MAX_PLACES = 2 ** 53;
const SAME: Pack = { sortKey: () => 0, places: 1, refine: undefined };

/**
 * The columns to compare for an order: neighbouring keys with few whole values are packed into one number, like its
 * digits, so that most comparisons read one number instead of five. Ties in two such numbers are rare; only then the
 * other keys are computed.
 */
function rankColumns(order: RankingOrder): RankColumns {
  const [first = SAME, ...others] = packsOf(order);
  // A refinement comes before every later key.
  const [second = SAME, ...last] = first.refine === undefined ? others : [SAME, ...others];
  return {
    first: first.sortKey,
    second: second.sortKey,
    rest: (left, right) =>
      first.refine?.(left, right) || second.refine?.(left, right) || compareColumns(left, right, last),
  };
}

function packsOf(order: RankingOrder): readonly Pack[] {
  const packs: Pack[] = [];
  for (const key of order) {
    const next = packOf(key);
    const last = packs.at(-1);
    if (last !== undefined && fitTogether(last, next)) packs[packs.length - 1] = join(last, next);
    else packs.push(next);
  }
  return packs;
}

function compareColumns(left: Candidate, right: Candidate, columns: readonly Pack[]): number {
  for (const column of columns) {
    const byColumn = compareByKey(left, right, column);
    if (byColumn !== 0) return byColumn;
  }
  return 0;
}

/** Negative if `left` goes first, positive if `right` does, 0 if this key does not distinguish them. */
export function compareByKey(left: Candidate, right: Candidate, { sortKey, refine }: Omit<Pack, 'places'>): number {
  return compareSortKeys(sortKey(left), sortKey(right)) || (refine?.(left, right) ?? 0);
}

/** Smaller values first; infinite ones may be equal. */
function compareSortKeys(left: number, right: number): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

function packOf({ sortKey, range, refine }: RankingKey): Pack {
  if (range === undefined) return { sortKey, places: Infinity, refine };
  const [least, most] = range;
  return { sortKey: (candidate) => sortKey(candidate) - least, places: most - least + 1, refine };
}

function fitTogether(left: Pack, right: Pack): boolean {
  return left.refine === undefined && left.places * right.places <= MAX_PLACES;
}

function join(left: Pack, right: Pack): Pack {
  const sortKey = (candidate: Candidate) => left.sortKey(candidate) * right.places + right.sortKey(candidate);
  return { sortKey, places: left.places * right.places, refine: right.refine };
}

import type { Candidate } from './candidate.ts';
import type { RankingKey } from './ranking-key.ts';
import type { RankingOrder } from './ranking-order.ts';

/** One number per pod that stands for one key, or for several that follow one another. */
export type RankColumn = Pick<RankingKey, 'placeOf' | 'refine'>;

interface Pack extends RankColumn {
  /** How many different places there are; infinite where that is not known. */
  readonly places: number;
}

/** Columns that are worked out for every pod; ties in both are rare, so the rest is asked only then. */
const EAGER = 2;
/** Whole numbers up to here are exact in a double. */
const MOST_PLACES = 2 ** 53;

/**
 * The columns to compare for an order: neighbouring keys with few whole places are packed into one number, like the
 * digits of one, so that most comparisons look at one number instead of five.
 */
export function rankColumns(order: RankingOrder): readonly RankColumn[] {
  const packs: Pack[] = [];
  for (const key of order) {
    const next = packOf(key);
    const last = packs.at(-1);
    if (last !== undefined && fitTogether(last, next)) packs[packs.length - 1] = join(last, next);
    else packs.push(next);
  }
  return withLazyRest(packs.slice(0, EAGER), packs.slice(EAGER));
}

function withLazyRest(eager: readonly RankColumn[], rest: readonly RankColumn[]): readonly RankColumn[] {
  const last = eager.at(-1);
  if (last === undefined || rest.length === 0) return eager;
  const refine: RankColumn['refine'] = (left, right) => last.refine?.(left, right) || compareColumns(left, right, rest);
  return [...eager.slice(0, -1), { placeOf: last.placeOf, refine }];
}

function compareColumns(left: Candidate, right: Candidate, columns: readonly RankColumn[]): number {
  for (const column of columns) {
    const byColumn = compareByColumn(left, right, column);
    if (byColumn !== 0) return byColumn;
  }
  return 0;
}

/** Negative if `left` goes first, positive if `right` does, 0 if this column, or key, does not distinguish them. */
export function compareByColumn(left: Candidate, right: Candidate, { placeOf, refine }: RankColumn): number {
  const leftPlace = placeOf(left);
  const rightPlace = placeOf(right);
  if (leftPlace !== rightPlace) return leftPlace < rightPlace ? -1 : 1;
  return refine?.(left, right) ?? 0;
}

function packOf({ placeOf, range, refine }: RankingKey): Pack {
  if (range === undefined) return { placeOf, places: Infinity, refine };
  const [least, most] = range;
  return { placeOf: (candidate) => placeOf(candidate) - least, places: most - least + 1, refine };
}

function fitTogether(left: Pack, right: Pack): boolean {
  return left.refine === undefined && left.places * right.places <= MOST_PLACES;
}

function join(left: Pack, right: Pack): Pack {
  const placeOf = (candidate: Candidate) => left.placeOf(candidate) * right.places + right.placeOf(candidate);
  return { placeOf, places: left.places * right.places, refine: right.refine };
}

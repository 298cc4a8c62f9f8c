import type { Whole } from './whole.ts';

/** Gives each resource name of a cluster a small number, so that amounts become rows of numbers. */
export interface ResourceColumns {
  readonly names: string[];
  readonly indexes: Map<string, number>;
  /** Rows by their fingerprint: most pods of a cluster take what others take, and share a row. */
  readonly rows: Map<number, readonly Whole[]>;
}

/** Rows that are kept for pods to come; when there are more, the pool begins anew. */
const MOST_ROWS = 10_000;
const LARGE_PRIME = 2_147_483_647;

export function createColumns(): ResourceColumns {
  return { names: [], indexes: new Map(), rows: new Map() };
}

/** Writes amounts as a row, naming new columns as needed; a resource left out is 0 or missing at the end. */
export function toRow(columns: ResourceColumns, amounts: ReadonlyMap<string, Whole>): readonly Whole[] {
  const row: Whole[] = [];
  for (const [name, amount] of amounts) {
    const index = columnOf(columns, name);
    while (row.length <= index) row.push(0);
    row[index] = amount;
  }
  return shared(columns, row);
}

function shared({ rows }: ResourceColumns, row: readonly Whole[]): readonly Whole[] {
  const key = fingerprint(row);
  const known = rows.get(key);
  if (known !== undefined && isEqual(known, row)) return known;
  if (rows.size >= MOST_ROWS) rows.clear();
  rows.set(key, row);
  return row;
}

/** A number, because a text for each of 150,000 pods takes 0.1 s. Different rows may have the same. */
function fingerprint(row: readonly Whole[]): number {
  let mixed = row.length;
  for (const amount of row) mixed = (mixed * 31 + Number(amount)) % LARGE_PRIME;
  return mixed;
}

function isEqual(a: readonly Whole[], b: readonly Whole[]): boolean {
  return a.length === b.length && a.every((amount, column) => amount === b[column]);
}

function columnOf(columns: ResourceColumns, name: string): number {
  const known = columns.indexes.get(name);
  if (known !== undefined) return known;
  columns.indexes.set(name, columns.names.length);
  return columns.names.push(name) - 1;
}

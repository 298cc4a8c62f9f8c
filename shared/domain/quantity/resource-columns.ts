import { putBounded } from '#shared/domain/model/put-bounded.ts';
import type { Whole } from './whole.ts';

/** Gives each resource name of a cluster a small number, so that amounts become rows of numbers. */
export interface ResourceColumns {
  readonly names: string[];
  readonly indexes: Map<string, number>;
  /** Rows by their text: most pods of a cluster take what others take, and share a row. */
  readonly rows: Map<string, readonly Whole[]>;
}

/** Rows that are kept for pods to come. */
const MOST_ROWS = 10_000;

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
  const key = row.join();
  const known = rows.get(key);
  if (known !== undefined) return known;
  putBounded(rows, MOST_ROWS, [key, row]);
  return row;
}

function columnOf(columns: ResourceColumns, name: string): number {
  const known = columns.indexes.get(name);
  if (known !== undefined) return known;
  columns.indexes.set(name, columns.names.length);
  return columns.names.push(name) - 1;
}

import type { Whole } from './whole.ts';

/** Gives each resource name of a cluster a small number, so that amounts become rows of numbers. */
export interface ResourceColumns {
  readonly names: string[];
  readonly indexes: Map<string, number>;
}

export function createColumns(): ResourceColumns {
  return { names: [], indexes: new Map() };
}

/** Writes amounts as a row, naming new columns as needed; a resource left out is 0 or missing at the end. */
export function toRow(columns: ResourceColumns, amounts: ReadonlyMap<string, Whole>): readonly Whole[] {
  const row: Whole[] = [];
  for (const [name, amount] of amounts) {
    const index = columnOf(columns, name);
    while (row.length <= index) row.push(0);
    row[index] = amount;
  }
  return row;
}

function columnOf(columns: ResourceColumns, name: string): number {
  const known = columns.indexes.get(name);
  if (known !== undefined) return known;
  columns.indexes.set(name, columns.names.length);
  return columns.names.push(name) - 1;
}

import { InputError } from '#cli/process-io.ts';
import { formatAnswer, listDocument } from './answer.ts';
import type { OutputFormat } from './output-option.ts';
import { compareFields, type SortKey } from './json-path.ts';
import { formatSection } from './table.ts';

/** A column of a table. */
export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => string;
  /** Shown with `-o wide` only. */
  readonly isWide?: boolean;
  /** Changes only with time: a row that differs only in this column has not changed. */
  readonly isAge?: boolean;
}

/** The list of a command; `Item` is a row for programs. */
export interface Listing<Row, Item = Row> {
  /** Of one item. */
  readonly kind: string;
  readonly rows: readonly Row[];
  readonly itemOf: (row: Row) => Item;
  readonly columns: readonly Column<Row>[];
  /** For `-o name`: `pod/web`. */
  readonly nameOf?: (row: Row) => string;
}

/** How a list is printed. */
export interface ListingOptions {
  readonly output: OutputFormat;
  readonly sortBy?: SortKey;
  /** `false` for `--no-headers`. */
  readonly headers: boolean;
}

/** A list as text, in the requested format. Throws an InputError if no item has the field to sort by. */
export async function formatListing<Row, Item>(
  listing: Listing<Row, Item>,
  { output, sortBy, headers }: ListingOptions,
): Promise<string> {
  const { kind, itemOf, nameOf } = listing;
  const rows = sortBy === undefined ? listing.rows : sorted(listing, sortBy);
  const answer = {
    document: listDocument(kind, rows.map(itemOf)),
    table: (isWide: boolean) => printRows(rows, columnsOf(listing, isWide), headers),
    names: nameOf === undefined ? [] : rows.map(nameOf),
  };
  return formatAnswer(answer, output, headers);
}

/** The rows that differ from those printed before, apart from their age. */
export function changedRows<Row, Item>(listing: Listing<Row, Item>, before: Listing<Row, Item>): readonly Row[] {
  const columns = listing.columns.filter(({ isAge }) => isAge !== true);
  const textOf = (row: Row) => JSON.stringify(columns.map(({ cell }) => cell(row)));
  const known = new Set(before.rows.map(textOf));
  return listing.rows.filter((row) => !known.has(textOf(row)));
}

function columnsOf<Row, Item>({ columns }: Listing<Row, Item>, isWide: boolean): readonly Column<Row>[] {
  return columns.filter((column) => isWide || column.isWide !== true);
}

function printRows<Row>(rows: readonly Row[], columns: readonly Column<Row>[], headers: boolean): string {
  const cells = rows.map((row) => columns.map(({ cell }) => cell(row)));
  return formatSection(headers ? columns.map(({ header }) => header) : undefined, cells);
}

/** As kubectl sorts: rows without the field first. */
function sorted<Row, Item>({ rows, itemOf }: Listing<Row, Item>, { path, read }: SortKey): readonly Row[] {
  const keyed = rows.map((row) => ({ row, key: read(itemOf(row)) }));
  if (rows.length > 0 && keyed.every(({ key }) => key === undefined))
    throw new InputError(`cannot sort by "${path}": no item has this field; -o json shows the fields`);
  return keyed.toSorted((a, b) => compareFields(a.key, b.key)).map(({ row }) => row);
}

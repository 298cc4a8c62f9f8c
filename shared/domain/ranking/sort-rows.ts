/** Rows with a fixed number of places each; equal places may still be told apart by the column's refinement. */
export interface Table<Row> {
  readonly rows: readonly Row[];
  /** Row by row, as many numbers each as there are refinements. */
  readonly places: Float64Array;
  readonly refinements: readonly (((left: Row, right: Row) => number) | undefined)[];
}

/** Runs of this length are sorted by insertion. */
const RUN = 8;

/**
 * The rows sorted by their places, the first column first, smaller numbers first. Stable. A merge sort of row numbers
 * over one flat array: several times as fast as `Array.prototype.sort` with a comparator that asks each key again.
 */
export function sortRows<Row>(table: Table<Row>): readonly Row[] {
  const { rows } = table;
  let sorted = Uint32Array.from(rows.keys());
  let spare = new Uint32Array(rows.length);
  for (let start = 0; start < rows.length; start += RUN) insertionSort(table, sorted, start);
  for (let width = RUN; width < rows.length; width *= 2) {
    for (let start = 0; start < rows.length; start += 2 * width)
      merge(table, { from: sorted, to: spare, start, width });
    [sorted, spare] = [spare, sorted];
  }
  return Array.from(sorted, (row) => rows[row] as Row);
}

function insertionSort<Row>(table: Table<Row>, numbers: Uint32Array, start: number): void {
  const end = Math.min(start + RUN, numbers.length);
  for (let next = start + 1; next < end; next++) {
    const row = numbers[next] as number;
    let hole = next;
    for (; hole > start && compareRows(table, numbers[hole - 1] as number, row) > 0; hole--) {
      numbers[hole] = numbers[hole - 1] as number;
    }
    numbers[hole] = row;
  }
}

interface Merge {
  readonly from: Uint32Array;
  readonly to: Uint32Array;
  readonly start: number;
  readonly width: number;
}

/** Merges two neighbouring sorted runs; of equal rows the one from the left run goes first. */
function merge<Row>(table: Table<Row>, { from, to, start, width }: Merge): void {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(start + 2 * width, from.length);
  let left = start;
  let right = middle;
  for (let at = start; at < end; at++) {
    const isLeftNext =
      right >= end || (left < middle && compareRows(table, from[left] as number, from[right] as number) <= 0);
    to[at] = (isLeftNext ? from[left++] : from[right++]) as number;
  }
}

function compareRows<Row>({ rows, places, refinements }: Table<Row>, left: number, right: number): number {
  const columns = refinements.length;
  for (let column = 0; column < columns; column++) {
    const leftPlace = places[left * columns + column] as number;
    const rightPlace = places[right * columns + column] as number;
    if (leftPlace !== rightPlace) return leftPlace < rightPlace ? -1 : 1;
    const refined = refinements[column]?.(rows[left] as Row, rows[right] as Row) ?? 0;
    if (refined !== 0) return refined;
  }
  return 0;
}

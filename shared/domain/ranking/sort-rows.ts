/** Rows with a fixed number of places each; equal places may still be distinguished by the column's refinement. */
export interface Table<Row> {
  readonly rows: readonly Row[];
  /** Row by row, as many numbers each as there are refinements. */
  readonly places: Float64Array;
  readonly refinements: readonly (((left: Row, right: Row) => number) | undefined)[];
}

/** Negative if the row with the first number goes first. */
type RowComparator = (left: number, right: number) => number;

/** Runs of this length are sorted by insertion. */
const RUN = 8;

/**
 * The rows sorted by their places, the first column first, smaller numbers first. Stable. A merge sort of row numbers
 * over one flat array: several times as fast as `Array.prototype.sort` with a comparator that asks each key again.
 */
export function sortRows<Row>(table: Table<Row>): readonly Row[] {
  const compare = rowComparator(table);
  const length = table.rows.length;
  let sorted = countUp(length);
  let spare = new Uint32Array(length);
  for (let start = 0; start < length; start += RUN) insertionSort(sorted, start, compare);
  for (let width = RUN; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) merge({ from: sorted, to: spare, start, width }, compare);
    [sorted, spare] = [spare, sorted];
  }
  return pick(table.rows, sorted);
}

function rowComparator<Row>({ rows, places, refinements }: Table<Row>): RowComparator {
  const columns = refinements.length;
  return (left, right) => {
    for (let column = 0; column < columns; column++) {
      const leftPlace = places[left * columns + column] as number;
      const rightPlace = places[right * columns + column] as number;
      if (leftPlace < rightPlace) return -1;
      if (leftPlace > rightPlace) return 1;
      const refine = refinements[column];
      const refined = refine === undefined ? 0 : refine(rows[left] as Row, rows[right] as Row);
      if (refined !== 0) return refined;
    }
    return 0;
  };
}

function countUp(length: number): Uint32Array<ArrayBuffer> {
  const numbers = new Uint32Array(length);
  for (let at = 0; at < length; at++) numbers[at] = at;
  return numbers;
}

function insertionSort(numbers: Uint32Array, start: number, compare: RowComparator): void {
  const end = Math.min(start + RUN, numbers.length);
  for (let next = start + 1; next < end; next++) {
    const row = numbers[next] as number;
    let hole = next;
    for (; hole > start && compare(numbers[hole - 1] as number, row) > 0; hole--) {
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
function merge({ from, to, start, width }: Merge, compare: RowComparator): void {
  const middle = Math.min(start + width, from.length);
  const end = Math.min(middle + width, from.length);
  let left = start;
  let right = middle;
  let at = start;
  while (left < middle && right < end) {
    const isLeftNext = compare(from[left] as number, from[right] as number) <= 0;
    to[at++] = (isLeftNext ? from[left++] : from[right++]) as number;
  }
  while (left < middle) to[at++] = from[left++] as number;
  while (right < end) to[at++] = from[right++] as number;
}

function pick<Row>(rows: readonly Row[], numbers: Uint32Array): readonly Row[] {
  const picked: Row[] = [];
  for (let at = 0; at < numbers.length; at++) picked.push(rows[numbers[at] as number] as Row);
  return picked;
}

import type { NodeEntry } from '#shared/domain/model/cluster-snapshot.ts';
import { sheetOf } from '#shared/domain/model/node-sheet.ts';
import { resourceRefusal } from './node-resources-fit.ts';
import type { Need } from './room.ts';
import type { Trial } from './trial.ts';

/** The sheet of a node beside what is left on it beyond the needs of the incoming pod, below 0 where it lacks. */
interface Sums {
  readonly numbers: Float64Array;
  readonly rowLength: number;
  /** Where in a row each need stands. */
  readonly offsets: readonly number[];
  /** In the order of the needs. */
  readonly left: number[];
  slots: number;
}

/**
 * A trial on resources alone, in plain sums of doubles: the needs and the node's sheet must be exact, and the sheet must
 * have a column for each need. The loops below are the inner loops of a plan over a large cluster.
 */
export function openTally(needs: readonly Need[], entry: NodeEntry): Trial {
  const { numbers, width } = sheetOf(entry);
  const offsets = needs.map(({ column }) => column + 1);
  const left = needs.map(({ amount, column }) => (numbers[column + 1] ?? 0) - Number(amount));
  const sums: Sums = { numbers, rowLength: width + 1, offsets, left, slots: (numbers[0] ?? 0) - 1 };
  return {
    takeOff: (indexes) => takeOff(sums, indexes),
    putBack: (indexes) => putBack(sums, indexes),
    refusal: () => resourceRefusal({ needs, left, slots: sums.slots }, entry),
  };
}

function takeOff(sums: Sums, indexes: readonly number[]): void {
  const { left, numbers, offsets, rowLength } = sums;
  for (const index of indexes) {
    const row = (index + 1) * rowLength;
    for (let need = 0; need < left.length; need += 1) {
      left[need] = (left[need] ?? 0) + (numbers[row + (offsets[need] ?? 0)] ?? 0);
    }
  }
  sums.slots += indexes.length;
}

function putBack(sums: Sums, indexes: readonly number[]): readonly number[] {
  const staysOff: number[] = [];
  for (const index of indexes) {
    if (sums.slots < 1 || !hasRoomFor(sums, index)) staysOff.push(index);
    else take(sums, index);
  }
  return staysOff;
}

function hasRoomFor({ left, numbers, offsets, rowLength }: Sums, index: number): boolean {
  const row = (index + 1) * rowLength;
  for (let need = 0; need < left.length; need += 1) {
    if ((numbers[row + (offsets[need] ?? 0)] ?? 0) > (left[need] ?? 0)) return false;
  }
  return true;
}

function take(sums: Sums, index: number): void {
  const { left, numbers, offsets, rowLength } = sums;
  const row = (index + 1) * rowLength;
  for (let need = 0; need < left.length; need += 1) {
    left[need] = (left[need] ?? 0) - (numbers[row + (offsets[need] ?? 0)] ?? 0);
  }
  sums.slots -= 1;
}

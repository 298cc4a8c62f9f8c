import { compareImportance, type PlacedPod } from './placed-pod.ts';
import { minus, plus, type Whole } from './whole.ts';

/** Who is on one node, known or not yet known. Changed only through the functions of this file and of `snapshot-pods.ts`. */
export interface Occupancy {
  /** In order of importance. */
  readonly pods: PlacedPod[];
  /** Pending pods that were promised this node, in order of arrival. */
  readonly nominated: PlacedPod[];
  /** What the pods take together, by column. */
  readonly requested: Whole[];
}

export function createOccupancy(): Occupancy {
  return { pods: [], nominated: [], requested: [] };
}

/** Puts a pod among the others. */
export function admit(occupancy: Occupancy, placed: PlacedPod): void {
  let at = occupancy.pods.length;
  for (let before = occupancy.pods[at - 1]; before !== undefined; before = occupancy.pods[at - 1]) {
    if (compareImportance(before, placed) <= 0) break;
    at -= 1;
  }
  occupancy.pods.splice(at, 0, placed);
  addRow(occupancy.requested, placed.row);
}

/** Takes a pod off. */
export function dismiss(occupancy: Occupancy, placed: PlacedPod): void {
  occupancy.pods.splice(occupancy.pods.indexOf(placed), 1);
  subtractRow(occupancy.requested, placed.row);
}

/** Adds a row of amounts to a sum, in place. */
function addRow(sum: Whole[], row: readonly Whole[]): void {
  row.forEach((amount, column) => {
    while (sum.length <= column) sum.push(0);
    sum[column] = plus(sum[column] ?? 0, amount);
  });
}

/** Subtracts a row of amounts from a sum that contains it, in place. */
function subtractRow(sum: Whole[], row: readonly Whole[]): void {
  row.forEach((amount, column) => {
    sum[column] = minus(sum[column] ?? 0, amount);
  });
}

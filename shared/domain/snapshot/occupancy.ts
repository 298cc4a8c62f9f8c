import { compareImportance, type PlacedPod } from './placed-pod.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';

/** Who is on one node, known or not yet known. Changed only through the functions of this folder. */
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
  const { pods, requested } = occupancy;
  const before = pods.findLastIndex((other) => compareImportance(other, placed) <= 0);
  pods.splice(before + 1, 0, placed);
  placed.row.forEach((amount, column) => (requested[column] = plus(requested[column] ?? 0, amount)));
}

/** Takes a pod off. */
export function dismiss(occupancy: Occupancy, placed: PlacedPod): void {
  const { pods, requested } = occupancy;
  pods.splice(pods.indexOf(placed), 1);
  placed.row.forEach((amount, column) => (requested[column] = minus(requested[column] ?? 0, amount)));
}

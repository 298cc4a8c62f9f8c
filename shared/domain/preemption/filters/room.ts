import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { podRequests } from '#shared/domain/pod/pod-requests.ts';
import { scheduledAmounts } from '#shared/domain/quantity/resource-columns.ts';
import { minus, plus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { PodAwareFilter, FilterRefusal } from './node-filters.ts';

/** One resource that the incoming pod needs. */
export interface Need {
  /**
   * The text of Kubernetes if only this resource is missing: one list shared by all nodes, because a plan keeps one for
   * each.
   */
  readonly shortage: readonly [string];
  /** Its column; -1 if the snapshot does not know it. */
  readonly column: number;
  /** Above 0. */
  readonly amount: Whole;
}

/** What would be left on a node after the incoming pod's needs; negative if the node has too little. */
interface RoomLeft {
  readonly needs: readonly Need[];
  /** Indexed like the needs. */
  readonly left: ArrayLike<Whole>;
  readonly slots: Whole;
}

/** The same, changed as pods are added and removed. */
export interface Room extends RoomLeft {
  readonly left: Whole[];
  slots: Whole;
}

const NOTHING: readonly string[] = [];

/**
 * What the pod needs; a resource requested as 0 is ignored. `plugins/noderesources/fit.go` computePodResourceRequest.
 */
export function needsOf(pod: Pod, snapshot: ClusterSnapshot): readonly Need[] {
  const amounts = [...scheduledAmounts(podRequests(pod))].filter(([, amount]) => amount > 0);
  return amounts.map(([resource, amount]) => ({
    shortage: [`Insufficient ${resource}`],
    column: snapshot.columns.indexes.get(resource) ?? -1,
    amount,
  }));
}

/** The room on a node with all of its pods. */
export function openRoom(needs: readonly Need[], { allocatable, allowedPods, occupancy }: NodeEntry): Room {
  const left = needs.map(({ amount, column }) =>
    minus(minus(allocatable[column] ?? 0, occupancy.requested[column] ?? 0), amount),
  );
  return { needs, left, slots: minus(allowedPods, occupancy.pods.length + 1) };
}

/** Adds a pod. */
export function take(room: Room, { row }: PlacedPod): void {
  room.needs.forEach(({ column }, index) => (room.left[index] = minus(room.left[index] ?? 0, row[column] ?? 0)));
  room.slots = minus(room.slots, 1);
}

/** Removes a pod. */
export function release(room: Room, { row }: PlacedPod): void {
  room.needs.forEach(({ column }, index) => (room.left[index] = plus(room.left[index] ?? 0, row[column] ?? 0)));
  room.slots = plus(room.slots, 1);
}

/** What is missing, in the words of `plugins/noderesources/fit.go` fitsRequest. */
export function shortReasons({ needs, left, slots }: RoomLeft): readonly string[] {
  const short = needs.filter((_, index) => (left[index] ?? 0) < 0);
  if (slots >= 0 && short.length <= 1) return short[0]?.shortage ?? NOTHING;
  const reasons = short.flatMap(({ shortage }) => shortage);
  return slots < 0 ? ['Too many pods', ...reasons] : reasons;
}

/** The node must have a pod slot and enough of each resource left. `plugins/noderesources/fit.go` Filter. */
export function nodeResourcesFit(needs: readonly Need[]): PodAwareFilter {
  return {
    open: (entry) => {
      const room = openRoom(needs, entry);
      return {
        add: (placed) => take(room, placed),
        remove: (placed) => release(room, placed),
        refusal: () => resourceRefusal(room, entry),
      };
    },
  };
}

/**
 * What is missing, if anything; preemption cannot help if a need exceeds the node's allocatable amount.
 * `plugins/noderesources/fit.go` fitsRequest.
 */
export function resourceRefusal(room: RoomLeft, { allocatable }: NodeEntry): FilterRefusal | undefined {
  const reasons = shortReasons(room);
  if (reasons.length === 0) return undefined;
  const isResolvable = room.needs.every(({ amount, column }) => amount <= (allocatable[column] ?? 0));
  return { filter: 'NodeResourcesFit', reasons, isResolvable };
}

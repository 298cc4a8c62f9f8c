import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PodAwareFilter } from './filter.ts';
import type { Refusal } from './refusal.ts';
import { openRoom, release, shortReasons, take, type Left, type Need } from './room.ts';

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

/** What is missing, if anything; a need above what the whole node has for pods cannot be helped. `plugins/noderesources/fit.go` fitsRequest. */
export function resourceRefusal(room: Left, { allocatable }: NodeEntry): Refusal | undefined {
  const reasons = shortReasons(room);
  if (reasons.length === 0) return undefined;
  const isResolvable = room.needs.every(({ amount, column }) => amount <= (allocatable[column] ?? 0));
  return { filter: 'NodeResourcesFit', reasons, isResolvable };
}

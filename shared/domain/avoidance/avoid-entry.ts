import type { OwnerKey } from '#shared/domain/pod/owner-key.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

/** Keeps new pods of an owner off one node until a time (wall time). */
export interface AvoidEntry {
  readonly owner: OwnerKey;
  readonly until: Instant;
  readonly cause: string;
  /** Whether the node is forbidden; otherwise it is the last choice. */
  readonly hard: boolean;
}

/** Entries that one NodePressure holds at most (deploy/crds/plimsoll.dev_nodepressures.yaml). */
export const MOST_ENTRIES = 64;

/** The entries that still last at `now`. */
export function lastingEntries(
  { avoid }: { readonly avoid: readonly AvoidEntry[] },
  now: Instant,
): readonly AvoidEntry[] {
  return avoid.filter(({ until }) => until > now);
}

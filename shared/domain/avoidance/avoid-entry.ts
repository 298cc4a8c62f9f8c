import type { Instant } from '#shared/domain/pod/pod.ts';

/** Keeps new pods of an owner off one node until a time (wall time). */
export interface AvoidEntry {
  readonly owner: OwnerKey;
  readonly until: Instant;
  readonly cause: string;
  /** Whether the node is forbidden; otherwise it is the last choice. */
  readonly hard: boolean;
}

/** The controller of a pod. Without `uid`, every owner of that name is meant. */
export interface OwnerKey {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string | undefined;
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

/** Whether two keys name one owner; UIDs are compared where both are known. */
export function isSameOwner(left: OwnerKey, right: OwnerKey): boolean {
  const isSameName = left.namespace === right.namespace && left.kind === right.kind && left.name === right.name;
  return isSameName && (left.uid === undefined || right.uid === undefined || left.uid === right.uid);
}

/** An owner as messages and `status.evictions` name it: `namespace/Kind/name`. */
export function ownerText({ namespace, kind, name }: OwnerKey): string {
  return `${namespace}/${kind}/${name}`;
}

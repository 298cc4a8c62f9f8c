import type { AdmittedGang } from '#shared/api/admitted.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { deletedAt } from '#shared/domain/pod/pod-conditions.ts';
import type { QueueGang, QueueMember } from './gangs.ts';

/** Since when a gang runs in part, or until when it was last seen whole. */
export interface GangTime {
  readonly isHalf: boolean;
  readonly at: Instant;
  /** Since when pods are there that may make it whole. */
  readonly joinedAt: Instant;
  /** When the deleted pods have used the time that they have to end: until then no other has their place. */
  readonly endedAt: Instant;
}

export type GangTimes = ReadonlyMap<string, GangTime>;

/**
 * Since when gangs run in part without a break, from the first moment on, as this process has seen it, and else as the
 * objects say. A gang whose pods are removed and replaced again and again would never be late by the objects alone.
 */
export function gangTimes(gangs: readonly QueueGang[], before: GangTimes, now: Instant): GangTimes {
  return new Map(
    gangs.flatMap((gang): readonly (readonly [string, GangTime])[] => {
      const time = timeOf(gang, before.get(gang.key), now);
      return time === undefined ? [] : [[gang.key, time]];
    }),
  );
}

function timeOf(gang: QueueGang, before: GangTime | undefined, now: Instant): GangTime | undefined {
  const parts = partsOf(gang);
  if (parts.inside.length === 0) return undefined;
  if (parts.missing <= 0) return { isHalf: false, at: now, joinedAt: now, endedAt: now };
  if (before?.isHalf === true) return before;
  const found = partSince(gang, parts);
  if (found === undefined) return before;
  // A pod that is created again late may have been lost long before; what was whole a moment ago was not.
  const at = before?.at ?? found;
  const endedAt = gang.deletions.reduce((last, deletion) => Math.max(last, deletion.at), at);
  return { isHalf: true, at, joinedAt: Math.max(at, found), endedAt };
}

interface GangParts {
  readonly inside: readonly QueueMember[];
  readonly running: readonly QueueMember[];
  /** Those that wait, or were let in and have no node. */
  readonly lacking: readonly QueueMember[];
  /** How many more have to run. */
  readonly missing: number;
}

export function partsOf(gang: QueueGang): GangParts {
  const inside = gang.members.filter(({ isIn }) => isIn);
  const isRunning = ({ isIn, pod }: QueueMember): boolean => isIn && pod.isBound;
  const running = inside.filter(isRunning);
  const lacking = gang.members.filter((member) => !isRunning(member));
  return { inside, running, lacking, missing: neededOf(gang) - running.length };
}

/**
 * How many of its pods have to run. A minimum that rises while they run asks for more pods, and takes none from those
 * that were enough when they went in.
 */
function neededOf({ members, min }: QueueGang): number {
  return members.reduce((least, member) => Math.min(least, letInAs(member)?.min ?? least), min);
}

/** The gang with which a pod was let in, if it is the one that it names. */
export function letInAs({ pod: { admitted }, gang: { name } }: QueueMember): AdmittedGang | undefined {
  return admitted?.gang?.name === name ? admitted.gang : undefined;
}

/**
 * Since when it runs in part by its objects, so that a new leader knows: since the first of its pods went in, or since
 * one is lost without which too few run. Of the pods that lack a node or are ending those count that came last, as many
 * as are missing; the others are beyond its size, or took the place of pods that have a node again.
 */
function partSince({ deletions }: QueueGang, { inside, running, lacking, missing }: GangParts): Instant | undefined {
  const deleted = deletions.flatMap((deletion) => deletedAt({ deletion }) ?? []);
  const lost = [...lacking.map(({ pod }) => pod.createdAt), ...deleted].sort((a, b) => a - b);
  const lostAt = lost[Math.max(0, lost.length - missing)];
  if (lostAt === undefined) return undefined;
  return Math.max(lostAt, limitOf(running.length > 0 ? running : inside, Math.min));
}

/** When the first or the last of these pods went in; more pods may name a gang than a function takes arguments. */
export function limitOf([first, ...others]: readonly QueueMember[], choose: (a: number, b: number) => number): Instant {
  return others.reduce((limit, each) => choose(limit, inSince(each)), first === undefined ? 0 : inSince(first));
}

function inSince({ pod }: QueueMember): Instant {
  return pod.admitted?.at ?? pod.createdAt;
}

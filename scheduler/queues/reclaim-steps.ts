import { type Because, reason } from '#shared/domain/base/because.ts';
import type { RoomStep, Seeker, SeekerStep } from '#shared/domain/queue/make-room.ts';
import { MAX_ATTEMPTS } from './room-maker.ts';

/** Pods examined in one round; later ones have to wait for these anyway. */
const MAX_SEEKERS = 20;

/** For more pods at once, looking for room would take many seconds of a large cluster. */
const MAX_OF_GANG = 100;

const TOO_MANY = reason<object>(
  'GangTooLargeForReclaim',
  () => `no room is made for gangs of which more than ${MAX_OF_GANG} pods wait`,
);

/** Gangs for which no room is looked for, and why. */
export function tooLargeIn(groups: readonly (readonly Seeker[])[]): readonly SeekerStep[] {
  const seekers = groups.filter(({ length }) => length > MAX_OF_GANG).flat();
  return seekers.map((seeker) => ({ seeker, step: { kind: 'None', because: TOO_MANY({}) } }));
}

/** The first that a round may examine. A gang is examined whole, also where it is larger than that. */
export function firstOf(groups: readonly (readonly Seeker[])[]): readonly Seeker[] {
  const first: Seeker[] = [];
  for (const group of groups.filter(({ length }) => length <= MAX_OF_GANG)) {
    if (first.length > 0 && first.length + group.length > MAX_SEEKERS) break;
    first.push(...group);
  }
  return first;
}

export const EARLY = 'NotAboveDelay';
export const BLOCKED = 'ReclaimBlocked';

export function isEarly({ because }: RoomStep): boolean {
  return because.code === EARLY;
}

/**
 * Whether to remove the gate: there is room, or none can be made and autoscalers have to see the pod. No node helps a pod
 * that a maximum keeps out.
 */
export function isOpen({ seeker, step }: SeekerStep): boolean {
  if (!seeker.isGated || seeker.pod.gang !== undefined) return false;
  return step.kind === 'Room' || (step.kind === 'None' && !isEarly(step) && seeker.isCrowded !== true);
}

export const TRIED_IN_VAIN = reason<object>(
  'GivenUp',
  () => `the leader tried ${MAX_ATTEMPTS} times within ten minutes to make room for this pod, without success`,
);

export const VICTIMS_HANG = reason<{ readonly nodes: string }>(
  'VictimsHang',
  ({ nodes }) =>
    `pods that were evicted for this queue on nodes ${nodes} have not ended; no others are evicted for it until they are gone`,
);

export function givenUp({ seeker }: SeekerStep, because: Because): SeekerStep {
  return { seeker, step: { kind: 'None', because } };
}

import type { Instant } from '#shared/domain/pod/pod.ts';
import { isPreempted } from '#shared/domain/pod/preempted-pod.ts';
import { needsOf, openRoom, release, type Room, shortReasons } from '#shared/domain/preemption/filters/room.ts';
import { HANGING_AFTER_MS, type LeavingPods } from '#shared/domain/preemption/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';

/** How long a nomination has been asked about while nothing was awaited, in milliseconds; 0 the first time. */
export type IdleFor = (nominated: PlacedPod, now: Instant) => number;

/** A node at one moment. */
export interface NodeMoment {
  readonly snapshot: ClusterSnapshot;
  readonly entry: NodeEntry;
  readonly leaving: LeavingPods;
  readonly idleFor: IdleFor;
  readonly now: Instant;
}

/**
 * The pods nominated to a node that keep room there. None does for ever: a nomination counts while its pod waits for pods
 * that a scheduler has preempted, and otherwise for a minute, in which its scheduler removes the victims or places the pod. It counts no
 * longer where a victim outlives its grace period by a minute (S1-33), or once the pod is terminating itself.
 */
export function awaitedNominations(moment: NodeMoment): readonly PlacedPod[] {
  return moment.entry.occupancy.nominated.filter((each) => each.pod.deletion === undefined && isAwaited(each, moment));
}

function isAwaited(nominated: PlacedPod, moment: NodeMoment): boolean {
  const { entry, idleFor, leaving, now, snapshot } = moment;
  const room = openRoom(needsOf(nominated.pod, snapshot), entry);
  if (!isEnough(room)) {
    vacate(room, moment);
    if (leaving.some((index) => isVictim(entry.occupancy.pods[index])) && isEnough(room)) return true;
    if (hasHangingVictim(nominated, moment)) return false;
  }
  return idleFor(nominated, now) <= HANGING_AFTER_MS;
}

/** Counts the pods that leave as gone. */
export function vacate(room: Room, { entry, leaving }: Pick<NodeMoment, 'entry' | 'leaving'>): void {
  for (const index of leaving) release(room, entry.occupancy.pods[index] as PlacedPod);
}

export function isEnough(room: Room): boolean {
  return shortReasons(room).length === 0;
}

/** Only a preemption is awaited for longer: anyone can nominate a pod to a node where others terminate. */
function isVictim(placed: PlacedPod | undefined): boolean {
  return placed !== undefined && isPreempted(placed.pod);
}

function hasHangingVictim({ priority: below }: PlacedPod, { entry, leaving }: NodeMoment): boolean {
  return entry.occupancy.pods.some(
    ({ pod, priority }, index) => priority < below && pod.deletion !== undefined && !leaving.includes(index),
  );
}

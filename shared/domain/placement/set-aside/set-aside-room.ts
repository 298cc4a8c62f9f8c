import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { isDaemonSetPod, type Instant, type Pod, isPreempted } from '#shared/domain/pod/pod.ts';
import {
  needsOf,
  openRoom,
  release,
  type Room,
  shortReasons,
  take,
} from '#shared/domain/placement/filters/node-filters.ts';
import { HANGING_AFTER_MS, leavingPods, type LeavingPods } from '#shared/domain/placement/trial/leaving-pods.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import { type PlacedPod, priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';

/** The pod to place, and when. */
export interface IncomingPod {
  readonly pod: Pod;
  /** The pod's requests were not read, so it is assumed to fit with no nominated pod. */
  readonly isOfUnknownSize?: boolean;
  readonly now: Instant;
  readonly idleFor: IdleFor;
}

const NONE: readonly string[] = [];

/** The nodes to which pending pods are nominated; on all others no room is set aside. */
export function nodesWithNominations(
  { nominatedNodes }: Pick<ClusterSnapshot, 'nominatedNodes'>,
  nodes: readonly string[],
): readonly string[] {
  return nominatedNodes.size === 0 ? NONE : nodes.filter((node) => nominatedNodes.has(node));
}

/** Nodes on which the pod would take room that is set aside for others, and why. */
export function* setAsideNodes(
  snapshot: ClusterSnapshot,
  nodes: readonly string[],
  incoming: IncomingPod,
): Steps<ReadonlyMap<string, Because>> {
  const found = new Map<string, Because>();
  for (const node of nodes) {
    const entry = snapshot.nodes.get(node);
    const because = entry && whySetAside(snapshot, entry, incoming);
    if (because !== undefined) found.set(node, because);
    yield;
  }
  return found;
}

/**
 * Why the pod must leave room on a node to pending pods that are nominated there; `undefined` if all fit. Pods that
 * leave the node, and `victims` of the pod itself (by index), count as gone, because the nominated pods wait for them;
 * everyone may use what is free beyond that. kube-scheduler counts nominated pods too, but knows only those that it
 * schedules itself (`pkg/scheduler/eventhandlers.go` responsibleForPod). Mechanisms S0-22, S0-23, S2-26, S2-38.
 */
export function whySetAside(
  snapshot: ClusterSnapshot,
  entry: NodeEntry,
  { pod, isOfUnknownSize, now, idleFor }: IncomingPod,
  victims: LeavingPods = [],
): Because | undefined {
  if (!snapshot.nominatedNodes.has(entry.node.name)) return undefined;
  const leaving = leavingPods(snapshot, entry, now);
  const moment = { snapshot, entry, leaving, idleFor, now };
  const served = awaitedNominations(moment).filter((nominated) => isServedBefore(nominated, pod, snapshot));
  const [first] = served;
  if (first === undefined) return undefined;
  if (isOfUnknownSize === true) return setAsideFor(first);
  const room = openRoom(needsOf(pod, snapshot), entry);
  vacate(room, { entry, leaving: [...new Set([...leaving, ...victims])] });
  for (const nominated of served) take(room, nominated);
  return isEnough(room) ? undefined : setAsideFor(first);
}

/**
 * Whether the room of a nominated pod is kept from another pod: by priority, as in kube-scheduler
 * (`pkg/scheduler/framework/runtime/framework.go` addGENominatedPods). A DaemonSet's pod fits nowhere else, so its room
 * is kept from all but system pods (S2-38). Two pods nominated to the same node would wait for each other, so priority
 * decides between them, then the UID.
 */
function isServedBefore(nominated: PlacedPod, pod: Pod, { daemonSets }: ClusterSnapshot): boolean {
  if (podKey(nominated.pod) === podKey(pod)) return false;
  const lead = nominated.priority - priorityOf(pod);
  if (pod.status.nominatedNodeName === nominated.pod.status.nominatedNodeName)
    return lead > 0 || (lead === 0 && podKey(nominated.pod) < podKey(pod));
  return lead >= 0 || (isDaemonSetPod(nominated.pod, daemonSets) && !hasCriticalPriority(pod));
}

/** The text names no pod: kube-scheduler groups nodes by it, and users other than the pod's owner can read it. */
function setAsideFor({ pod: { namespace, name } }: PlacedPod): Because {
  const text = 'the room is set aside for a pending pod';
  return { code: 'RoomSetAside', text, facts: { namespace, pod: name } };
}

/** How long a nomination has been seen without pods to wait for, in milliseconds; 0 the first time. */
export type IdleFor = (nominated: PlacedPod, now: Instant) => number;

/** A node at one point in time. */
interface NodeMoment {
  readonly snapshot: ClusterSnapshot;
  readonly entry: NodeEntry;
  readonly leaving: LeavingPods;
  readonly idleFor: IdleFor;
  readonly now: Instant;
}

/**
 * The pods nominated to a node that keep room there. Set-aside room expires: a nomination counts while its pod waits
 * for preempted pods, and otherwise for one minute, in which its scheduler removes the victims or places the pod. It
 * stops counting if a victim outlives its grace period by a minute (S1-33), or once the pod itself is terminating.
 */
function awaitedNominations(moment: NodeMoment): readonly PlacedPod[] {
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

/** Whether a node has enough for a pod, or will have once its leaving pods are gone; only requests are compared. */
export function isRoomComing(
  pod: Pod,
  { snapshot, entry, now }: Pick<NodeMoment, 'snapshot' | 'entry' | 'now'>,
): boolean {
  const room = openRoom(needsOf(pod, snapshot), entry);
  vacate(room, { entry, leaving: leavingPods(snapshot, entry, now) });
  return isEnough(room);
}

/** Counts leaving pods as gone. */
function vacate(room: Room, { entry, leaving }: Pick<NodeMoment, 'entry' | 'leaving'>): void {
  for (const index of leaving) release(room, entry.occupancy.pods[index] as PlacedPod);
}

function isEnough(room: Room): boolean {
  return shortReasons(room).length === 0;
}

/** Only a preemption extends the wait: anyone can nominate a pod to a node where others are terminating. */
function isVictim(placed: PlacedPod | undefined): boolean {
  return placed !== undefined && isPreempted(placed.pod);
}

function hasHangingVictim({ priority: below }: PlacedPod, { entry, leaving }: NodeMoment): boolean {
  return entry.occupancy.pods.some(
    ({ pod, priority }, index) => priority < below && pod.deletion !== undefined && !leaving.includes(index),
  );
}

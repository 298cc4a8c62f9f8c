import { collectInSteps, sortInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { gangKey } from '#shared/domain/gang/gang.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { compareWaiting } from '#shared/domain/queue/let-in.ts';
import { fitCheck, type Seeker } from '#shared/domain/queue/make-room.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { addAmounts } from '#shared/domain/queue/usage.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podCounter } from './counted-pods.ts';
import { allocatableOf } from './node-room.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { RoomInput } from './room-state.ts';
import { type AdmittedPod, isAdmitted } from './standing.ts';
import { isOnItsWay } from './unplaced-pods.ts';

/** While the nodes have less than is declared, an autoscaler gets so much time to add some. */
const SCALE_UP_GRACE_MS = 60_000;

/**
 * The pods for which room is sought, the most important first: those that are held back until room is made, and those
 * that were let in and have no node.
 */
export function* seekersOf(input: RoomInput): Steps<readonly Seeker[]> {
  const { plan, pods, snapshot, now } = input;
  const counted = podCounter(plan.directory.tree, plan.declared);
  const letInBy = hasLessThanDeclared(input) ? now - SCALE_UP_GRACE_MS : Infinity;
  const heldBack = yield* collectInSteps(plan.seeking, (pod) => {
    const queued = pods.get(pod.uid);
    if (queued === undefined || !isWaiting(queued)) return undefined;
    return { ...seekerOf(pod, queued, snapshot), isCrowded: plan.crowded.has(pod.uid) };
  });
  const withoutNode = yield* collectInSteps(plan.unplaced, ({ uid }) => {
    const queued = pods.get(uid);
    if (queued === undefined || !isUnplaced(queued) || queued.admitted.at > letInBy) return undefined;
    // No room helps these.
    if (queued.unplaced?.deletion !== undefined || queued.foreignGates.length > 0) return undefined;
    return seekerOf(admittedPod(queued, counted(queued.requests)), queued, snapshot);
  });
  return yield* sortInSteps([...heldBack, ...withoutNode], (a, b) => compareWaiting(a.pod, b.pod));
}

function isUnplaced(pod: QueuedPod): pod is AdmittedPod {
  return isAdmitted(pod) && !pod.isBound && !isWaiting(pod);
}

/** The pod as one for which room is sought. */
export function seekerOf(pod: WaitingPod, queued: QueuedPod, snapshot: ClusterSnapshot): Seeker {
  const { unplaced } = queued;
  const nominatedTo = unplaced?.status.nominatedNodeName;
  const fits = unplaced === undefined ? () => false : lazyFit(snapshot, unplaced);
  const isGated = isWaiting(queued);
  const isCounted = !isGated && unplaced !== undefined && isOnItsWay(unplaced);
  const { gang, namespace } = queued;
  const together = gang === undefined ? {} : { together: gangKey(namespace, gang.name) };
  return { pod, isGated, isCounted, nominatedTo, fits, ...together };
}

/** Prepared only for the pods that are looked at. */
function lazyFit(snapshot: ClusterSnapshot, pod: Pod): NonNullable<Seeker['fits']> {
  let check: NonNullable<Seeker['fits']> | undefined;
  return (node, victims) => (check ??= fitCheck(snapshot, pod))(node, victims);
}

/** As it was when it was let in (S2-35). */
function admittedPod({ uid, namespace, name, priority, admitted }: AdmittedPod, requests: QueueAmounts): WaitingPod {
  const { queue, application, mayPreempt, at: waitingSince } = admitted;
  return {
    uid,
    priority,
    requests,
    queue,
    application,
    mayPreempt,
    waitingSince,
    name: `${namespace}/${name}`,
    isCharged: true,
    isOriginator: false,
    isDaemonSet: false,
  };
}

function hasLessThanDeclared({ plan, snapshot }: RoomInput): boolean {
  if (plan.declared === undefined) return false;
  const sums = new Map<string, Whole>();
  for (const { node } of snapshot.nodes.values()) addAmounts(sums, allocatableOf(node));
  return [...plan.declared].some(([type, amount]) => minus(amount, sums.get(type) ?? 0) > 0);
}

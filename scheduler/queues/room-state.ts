import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import { controllerOf, isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { minus, type Whole } from '#shared/domain/quantity/whole.ts';
import { compareWaiting } from '#shared/domain/queue/let-in.ts';
import type { RoomNode, RoomState, Seeker } from '#shared/domain/queue/make-room.ts';
import { queueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { fitCheck } from '#shared/domain/queue/seen-to-fit.ts';
import { addAmounts, AmountsByQueue, subtractAmounts } from '#shared/domain/queue/usage.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import type { QueuePlan } from './plan-pass.ts';
import { isWaiting, type QueuedPod, type QueuedPods } from './queued-pods.ts';

export interface RoomInput {
  readonly plan: QueuePlan;
  readonly pods: Pick<QueuedPods, 'values' | 'get' | 'amountsOf'>;
  readonly snapshot: ClusterSnapshot;
  readonly now: Instant;
  /** Whether this process has asked for the pod's eviction, which the watch does not show yet. */
  readonly isLeaving: (uid: string) => boolean;
  /** Whether the pod's eviction was refused a short time ago. */
  readonly isRefused: (uid: string) => boolean;
}

const NODES_PER_STEP = 20;
/** Nobody waits longer for a pod to end, and no pod goes that takes longer. */
const MAX_GRACE_MS = 600_000;
/** A pod that is still there so long after its end was due is stuck. */
const STUCK_MS = 60_000;
/** While the nodes have less than is declared, an autoscaler gets so much time to add some. */
const SCALE_UP_GRACE_MS = 60_000;

/**
 * The pods for which room is sought, the most important first: those that are held back until room is made, and those
 * that were let in and have no node.
 */
export function seekersOf(input: RoomInput): readonly Seeker[] {
  const { plan, pods, snapshot, now } = input;
  const seekers: Seeker[] = [];
  for (const pod of plan.seeking) {
    const queued = pods.get(pod.uid);
    if (queued !== undefined && isWaiting(queued)) seekers.push(seekerOf(pod, queued, snapshot));
  }
  const isGrowing = hasLessThanDeclared(input);
  for (const { uid } of plan.unplaced) {
    const queued = pods.get(uid);
    if (queued?.admitted === undefined || queued.isBound || isWaiting(queued)) continue;
    if (isGrowing && now - queued.admitted.at < SCALE_UP_GRACE_MS) continue;
    seekers.push(seekerOf(admittedPod(queued), queued, snapshot));
  }
  return seekers.sort((a, b) => compareWaiting(a.pod, b.pod));
}

function seekerOf(pod: WaitingPod, queued: QueuedPod, snapshot: ClusterSnapshot): Seeker {
  const { unplaced } = queued;
  const nominatedTo = unplaced?.status.nominatedNodeName;
  const fits = unplaced === undefined ? () => false : lazyFit(snapshot, unplaced);
  return { pod, isGated: isWaiting(queued), nominatedTo, fits };
}

/** Prepared only for the pods that are looked at. */
function lazyFit(snapshot: ClusterSnapshot, pod: Pod): NonNullable<Seeker['fits']> {
  let check: NonNullable<Seeker['fits']> | undefined;
  return (node, victims) => (check ??= fitCheck(snapshot, pod))(node, victims);
}

/** As it was when it was let in (S2-35). */
function admittedPod(pod: QueuedPod): WaitingPod {
  const { uid, namespace, name, admitted, application, priority, requests, createdAt } = pod;
  return {
    ...{ uid, priority, requests, name: `${namespace}/${name}` },
    queue: admitted?.queue ?? '',
    application: admitted?.application ?? application,
    waitingSince: admitted?.at ?? createdAt,
    mayPreempt: admitted?.mayPreempt === true,
    ...{ isCharged: true, isOriginator: false, isDaemonSet: false },
  };
}

function hasLessThanDeclared({ plan, snapshot }: RoomInput): boolean {
  if (plan.declared === undefined) return false;
  const sums = new Map<string, Whole>();
  for (const { node } of snapshot.nodes.values()) addAmounts(sums, queueAmounts(node.allocatable));
  return [...plan.declared].some(([type, amount]) => minus(amount, sums.get(type) ?? 0) > 0);
}

/** Looks at every node: what is free there, and which pods of queues run on it. */
export function* readRoomState(input: RoomInput): Steps<RoomState> {
  const { plan, pods, snapshot } = input;
  const own = new AmountsByQueue();
  const originators = new Originators();
  for (const pod of pods.values()) {
    if (pod.admitted === undefined || isGoing(pod.uid, input)) continue;
    own.add(pod.admitted.queue, pod.requests);
    originators.add(pod);
  }
  yield;
  const nodes: RoomNode[] = [];
  for (const entry of snapshot.nodes.values()) {
    nodes.push(roomOf(entry, input, originators));
    if (nodes.length % NODES_PER_STEP === 0) yield;
  }
  return { tree: plan.directory.tree, nodes, budgets: budgetsOf(snapshot), own: own.sums };
}

function isGoing(uid: string, { snapshot, isLeaving }: RoomInput): boolean {
  return isLeaving(uid) || snapshot.placedPods.get(uid)?.pod.deletion !== undefined;
}

/** The first pod of each application that has several, or the first that says so: it is taken after the others (S2-6). */
class Originators {
  readonly #first = new Map<string, QueuedPod>();
  readonly #several = new Set<string>();

  add(pod: QueuedPod): void {
    const application = pod.admitted?.application ?? '';
    const known = this.#first.get(application);
    if (known !== undefined) this.#several.add(application);
    if (known === undefined || comesBefore(pod, known)) this.#first.set(application, pod);
  }

  has({ uid, admitted }: QueuedPod): boolean {
    const application = admitted?.application ?? '';
    return this.#several.has(application) && this.#first.get(application)?.uid === uid;
  }
}

function comesBefore(a: QueuedPod, b: QueuedPod): boolean {
  if (a.isMarkedOriginator !== b.isMarkedOriginator) return a.isMarkedOriginator;
  return a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;
}

/** What pods hold that are gone in time counts as free. */
function roomOf({ node, occupancy }: NodeEntry, input: RoomInput, originators: Originators): RoomNode {
  const { pods } = input;
  const free = new Map(queueAmounts(node.allocatable));
  const leaving = new Map<string, Whole>();
  const leavingPods: { readonly uid: string }[] = [];
  const running: RunningPod[] = [];
  for (const placed of occupancy.pods) {
    const { pod } = placed;
    if (isGoneInTime(pod, input)) {
      addAmounts(leaving, pods.amountsOf(pod));
      leavingPods.push(pod);
      continue;
    }
    subtractAmounts(free, pods.amountsOf(pod));
    if (pod.deletion === undefined) running.push(...runningPod(placed, input, originators));
  }
  const promised = occupancy.nominated.map(({ pod, priority }) => ({
    ...{ uid: pod.uid, priority },
    requests: pods.amountsOf(pod),
  }));
  return { name: node.name, free, leaving, leavingPods, promised, pods: running };
}

function isGoneInTime({ uid, deletion }: Pod, { isLeaving, now }: RoomInput): boolean {
  if (deletion === undefined) return isLeaving(uid);
  return deletion.at - now <= MAX_GRACE_MS && now - deletion.at <= STUCK_MS;
}

/** A pod that may have to go: one that was let in, and is not protected. */
function runningPod(
  { pod, budgets }: PlacedPod,
  { pods, snapshot, isRefused }: RoomInput,
  originators: Originators,
): readonly RunningPod[] {
  const queued = pods.get(pod.uid);
  if (queued?.admitted === undefined || isRefused(pod.uid) || !mayGo(pod)) return [];
  const { queue, application, mayBePreempted } = queued.admitted;
  const { uid, namespace, name, priority, requests } = queued;
  return [
    {
      ...{ uid, priority, requests, queue, application, mayBePreempted, name: `${namespace}/${name}` },
      isOriginator: originators.has(queued),
      isDaemonSet: isDaemonSetPod(pod, snapshot.daemonSets),
      startedAt: pod.status.startTime,
      hasController: controllerOf(pod) !== undefined,
      ownerDisruptedAt: undefined,
      budgets: budgets.map(({ budget }) => `${budget.namespace}/${budget.name}`),
    },
  ];
}

function mayGo(pod: Pod): boolean {
  const graceMs = (pod.spec.terminationGracePeriodSeconds ?? 0) * 1_000;
  const isProtected = hasCriticalPriority(pod) || PROTECTED_NAMESPACES.some((each) => each === pod.namespace);
  return !isProtected && graceMs <= MAX_GRACE_MS;
}

function budgetsOf({ budgets }: ClusterSnapshot): ReadonlyMap<string, number> {
  const allowed = new Map<string, number>();
  for (const [namespace, named] of budgets) {
    for (const [name, { budget }] of named) allowed.set(`${namespace}/${name}`, Math.max(0, budget.disruptionsAllowed));
  }
  return allowed;
}

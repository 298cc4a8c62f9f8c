import { askSnapshot, refusalOf } from '#shared/domain/eviction/ask-budgets.ts';
import { DEFAULT_OPT_OUT_CEILING } from '#shared/domain/eviction/protection.ts';
import { collectInSteps, sortInSteps, type Steps } from '#shared/domain/base/steps.ts';
import { byName } from '#shared/domain/base/texts.ts';
import { isDisrupted } from '#shared/domain/pod/pod-conditions.ts';
import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import type { RoomNode, RoomState } from '#shared/domain/queue/make-room.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import { overlapOf } from '#shared/domain/queue/why-no-room.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { addAmounts, AmountsByQueue, subtractAmounts } from '#shared/domain/queue/usage.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { isManaged, isMarkedLast } from '#shared/kube/annotations/annotations.ts';
import { podCounter } from './counted-pods.ts';
import { allocatableOf, isLost } from './node-room.ts';
import type { QueuePlan } from './plan-pass.ts';
import { withGangs } from './running-gangs.ts';
import { protectionOf, type Standing, standingOf } from './standing.ts';
import { chargedQueue, type FindQueue, queueFinder, untracked } from './queue-finder.ts';
import { isWaiting, type QueuedPod } from './queued-pod.ts';
import type { QueuedPods } from './queued-pods.ts';
import { isOnItsWay } from './unplaced-pods.ts';

export interface RoomInput {
  readonly plan: QueuePlan;
  readonly pods: Pick<QueuedPods, 'values' | 'get' | 'amountsOf' | 'graceSecondsOf'>;
  readonly snapshot: ClusterSnapshot;
  readonly now: Instant;
  /** Whether this process has asked for the pod's eviction, which the watch does not show yet. */
  readonly isLeaving: (uid: string) => boolean;
  /** Whether the pod's eviction was refused a short time ago. */
  readonly isRefused: (uid: string) => boolean;
  /** What this process has promised, which the watch need not show yet. */
  readonly promises: readonly RoomPromise[];
  /** When a pod of an owner, by UID, was last removed, if known. */
  readonly ownerDisruptedAt?: ((owner: string | undefined) => Instant | undefined) | undefined;
}

/** A node that is being set aside. */
export interface RoomPromise {
  readonly pod: WaitingPod;
  readonly node: string;
  /** Whether the decision is still being carried out, so that the pod is no seeker. */
  readonly isBusy: boolean;
}

const NODES_PER_STEP = 20;
const PODS_PER_STEP = 1_000;
/**
 * A pod that ends by itself but takes longer is not waited for. It is evicted only if no other pods are enough, and then
 * gets no more time: otherwise what a pod says of its own end would keep it in the guarantee of another queue for ever.
 */
const MAX_GRACE_SECONDS = 600;
/** A pod that is still there so long after its end was due is stuck. */
const STUCK_MS = 60_000;

/** Whether the pod should have ended long ago. */
function isStuck({ deletion }: Pick<Pod, 'deletion'>, now: Instant): boolean {
  return deletion !== undefined && now - deletion.at > STUCK_MS;
}

/** Whether a pod is there that should have ended, on a node that is not lost: there it may be for ever, whatever others do. */
export function isHanging(
  uid: string,
  { placedPods, nodes }: Pick<ClusterSnapshot, 'placedPods' | 'nodes'>,
  now: Instant,
): boolean {
  const pod = placedPods.get(uid)?.pod;
  if (pod === undefined || !isStuck(pod, now)) return false;
  const entry = nodes.get(pod.spec.nodeName ?? '');
  return entry === undefined || !isLost(entry.node, now);
}

/** Looks at every node: what is free there, and which pods of queues run on it. */
export function* readRoomState(input: RoomInput): Steps<RoomState> {
  const { plan, pods, snapshot } = input;
  const charges = new Charges(input);
  let count = 0;
  for (const pod of pods.values()) {
    charges.add(pod);
    count += 1;
    if (count % PODS_PER_STEP === 0) yield;
  }
  const read = (entry: NodeEntry): RoomNode => {
    charges.addUntracked(entry);
    return roomOf(entry, input, charges);
  };
  // Of equal nodes the first is taken, which must not depend on when the watch showed them.
  const inOrder = yield* sortInSteps([...snapshot.nodes.values()], (a, b) => byName(a.node, b.node));
  const nodes = yield* collectInSteps(inOrder, read, NODES_PER_STEP);
  const { own, sought, unplaced } = charges;
  const sums = { own: own.sums(), unplaced: unplaced.sums(), sought: sought.sums() };
  const state = { tree: plan.floors, nodes, budgets: budgetsOf(snapshot, charges.overlaps), ...sums };
  return plan.gangs.length === 0 ? state : withGangs(state, plan.gangs, (uid) => isGoing(uid, input));
}

/** What counts for the queues, as in `planPass`, but for what leaves. */
class Charges {
  readonly own = new AmountsByQueue();
  readonly unplaced = new AmountsByQueue();
  readonly sought = new AmountsByQueue();
  readonly #returned: ReadonlySet<string>;
  readonly originators = new Originators();
  /** Budgets that select the same pods. */
  readonly overlaps = new Set<string>();
  readonly #input: RoomInput;
  readonly find: FindQueue;
  readonly counted: (requests: QueueAmounts) => QueueAmounts;

  constructor(input: RoomInput) {
    this.#input = input;
    this.#returned = new Set(input.plan.returned.map(({ pod }) => pod.uid));
    this.counted = podCounter(input.plan.directory.tree, input.plan.declared);
    this.find = queueFinder({ snapshot: input.snapshot, directory: input.plan.directory }, () => undefined);
    for (const { pod, isBusy } of input.promises) {
      const queued = input.pods.get(pod.uid);
      if (isBusy && queued !== undefined && !queued.isBound && !this.#isOnItsWay(queued))
        this.sought.add(pod.queue, pod.requests);
    }
  }

  /** A pod behind its gate counts for nothing, whatever its annotations say: outside of managed namespaces every tenant may write them. */
  add(pod: QueuedPod): void {
    if (isWaiting(pod) || isGoing(pod.uid, this.#input)) return;
    const isOnItsWay = this.#isOnItsWay(pod);
    const [name, amounts] = [
      chargedQueue(pod, this.find),
      this.counted(this.#input.plan.capped.get(pod.uid) ?? pod.requests),
    ];
    if (pod.isBound || isOnItsWay) this.own.add(name, amounts);
    if (!pod.isBound && isOnItsWay) this.unplaced.add(name, amounts);
    if (pod.admitted !== undefined) this.originators.add(pod.admitted.application, pod);
  }

  /** A pod that kube-scheduler found no node for counts only once room is made for it. */
  #isOnItsWay({ uid, otherGates, unplaced }: QueuedPod): boolean {
    if (otherGates !== undefined || unplaced === undefined || this.#returned.has(uid)) return false;
    return isOnItsWay(unplaced);
  }

  /** Pods that were on the node before their namespace was managed. */
  addUntracked({ occupancy }: NodeEntry): void {
    const { pods, snapshot, plan } = this.#input;
    for (const { pod } of occupancy.pods) {
      if (pods.get(pod.uid) !== undefined || pod.deletion !== undefined) continue;
      if (!isManaged(snapshot.namespaces.get(pod.namespace))) continue;
      const amounts = this.counted(plan.capped.get(pod.uid) ?? pods.amountsOf(pod));
      this.own.add(chargedQueue(untracked(pod), this.find), amounts);
    }
  }
}

function isGoing(uid: string, { snapshot, isLeaving }: RoomInput): boolean {
  return isLeaving(uid) || snapshot.placedPods.get(uid)?.pod.deletion !== undefined;
}

/** The first pod of each application that has several, or the first that says so: it is taken after the others (S2-6). */
class Originators {
  readonly #first = new Map<string, QueuedPod>();
  readonly #several = new Set<string>();

  add(application: string, pod: QueuedPod): void {
    const known = this.#first.get(application);
    if (known !== undefined) this.#several.add(application);
    if (known === undefined || comesBefore(pod, known)) this.#first.set(application, pod);
  }

  has(application: string, uid: string): boolean {
    return this.#several.has(application) && this.#first.get(application)?.uid === uid;
  }
}

function comesBefore(a: QueuedPod, b: QueuedPod): boolean {
  if (a.isMarkedOriginator !== b.isMarkedOriginator) return a.isMarkedOriginator;
  return a.createdAt === b.createdAt ? a.uid < b.uid : a.createdAt < b.createdAt;
}

/** What pods hold that are gone in time counts as free. */
function roomOf({ node, occupancy }: NodeEntry, input: RoomInput, charges: Charges): RoomNode {
  const { originators, find, counted, overlaps } = charges;
  const { pods } = input;
  const free = new Map(allocatableOf(node));
  const leaving = new Map<string, Whole>();
  const leavingPods: { readonly uid: string }[] = [];
  const running: RunningPod[] = [];
  for (const placed of occupancy.pods) {
    const { pod } = placed;
    const queued = pods.get(pod.uid);
    const requests = counted(queued?.requests ?? pods.amountsOf(pod));
    if (isGoneInTime(pod, input)) {
      addAmounts(leaving, requests);
      leavingPods.push(pod);
      continue;
    }
    subtractAmounts(free, requests);
    const standing = pod.deletion === undefined ? standingOf(pod, queued, input.snapshot, find) : undefined;
    if (standing === undefined || !mayGo(placed, input)) continue;
    const budgets = budgetsUsed(placed, input, overlaps);
    running.push(runningPod(placed, { ...standing, requests, budgets }, { ...input, originators }));
  }
  return {
    name: node.name,
    free,
    leaving,
    leavingPods,
    promised: promisedOn({ node, occupancy }, input, counted),
    // What a node did not give back in time is not asked for again: more of its pods would hang as well.
    pods: occupancy.pods.some(({ pod }) => isStuck(pod, input.now) && isDisrupted(pod)) ? [] : running,
  };
}

function promisedOn(
  { node: { name }, occupancy: { nominated } }: Pick<NodeEntry, 'node' | 'occupancy'>,
  { pods, promises }: RoomInput,
  counted: Charges['counted'],
) {
  const requestsOf = (pod: Pod): QueueAmounts => counted(pods.amountsOf(pod));
  const shown = nominated.map(({ pod, priority }) => ({ uid: pod.uid, priority, requests: requestsOf(pod) }));
  const isShown = ({ pod }: RoomPromise): boolean => shown.some(({ uid }) => uid === pod.uid);
  const isOpen = ({ pod }: RoomPromise): boolean => pods.get(pod.uid)?.isBound === false;
  const others = promises.filter((each) => each.node === name && !isShown(each) && isOpen(each));
  return [...shown, ...others.map(({ pod }) => pod)];
}

function isGoneInTime({ uid, deletion }: Pod, { isLeaving, now }: RoomInput): boolean {
  if (deletion === undefined) return isLeaving(uid);
  return deletion.at - now <= MAX_GRACE_SECONDS * 1_000 && !isStuck({ deletion }, now);
}

/** The grace period with which a pod is evicted that would take longer. */
export function shortenedGrace(pod: Pod, pods: Pick<QueuedPods, 'graceSecondsOf'>): { readonly graceSeconds?: number } {
  return pods.graceSecondsOf(pod) > MAX_GRACE_SECONDS ? { graceSeconds: MAX_GRACE_SECONDS } : {};
}

/** A pod that may have to go. */
function runningPod(
  { pod, startedAt, priority }: PlacedPod,
  { queue, application, mayBePreempted, requests, budgets }: Standing & Pick<RunningPod, 'requests' | 'budgets'>,
  { originators, ownerDisruptedAt, pods }: Pick<RoomInput, 'ownerDisruptedAt' | 'pods'> & Pick<Charges, 'originators'>,
): RunningPod {
  const owner = controllerOf(pod);
  const grace = shortenedGrace(pod, pods);
  const endsLate = grace.graceSeconds !== undefined;
  return {
    uid: pod.uid,
    priority,
    requests,
    queue,
    application,
    mayBePreempted: mayBePreempted && !endsLate && !isMarkedLast(pod, DEFAULT_OPT_OUT_CEILING),
    name: `${pod.namespace}/${pod.name}`,
    isOriginator: originators.has(application, pod.uid),
    // The pod that its DaemonSet creates again gets the gate, and waits as any other.
    isDaemonSet: false,
    startedAt: startedAt === undefined ? undefined : startedAt * 1_000,
    hasController: owner !== undefined,
    ownerDisruptedAt: ownerDisruptedAt?.(owner?.uid),
    budgets,
    ...grace,
  };
}

const NO_BUDGETS: readonly string[] = [];

/**
 * The budgets that an eviction uses. Several count as one that allows none, because the API server refuses any eviction
 * then: as such they are named to the pod that finds no room.
 */
function budgetsUsed(placed: PlacedPod, { snapshot }: RoomInput, overlaps: Set<string>): readonly string[] {
  const answer = askSnapshot(snapshot, placed);
  if (answer.kind === 'Free') return NO_BUDGETS;
  const budgets = answer.kind === 'Counted' ? [answer.budget] : answer.budgets;
  const names = budgets.map(({ namespace, name }) => `${namespace}/${name}`);
  if (names.length === 1) return names;
  const overlap = overlapOf(names);
  overlaps.add(overlap);
  return [overlap];
}

function mayGo({ pod, priority }: PlacedPod, { isRefused }: RoomInput): boolean {
  const { uid, namespace, name } = pod;
  return protectionOf({ namespace, name, priority }) === undefined && !isRefused(uid);
}

function budgetsOf({ budgets }: ClusterSnapshot, overlaps: Iterable<string>): ReadonlyMap<string, number> {
  const allowed = new Map<string, number>();
  for (const [namespace, named] of budgets) {
    for (const [name, { budget }] of named) {
      const isUsable = refusalOf(budget) === undefined;
      allowed.set(`${namespace}/${name}`, isUsable ? budget.disruptionsAllowed : 0);
    }
  }
  for (const name of overlaps) allowed.set(name, 0);
  return allowed;
}

import { hasCriticalPriority } from '#shared/domain/eviction/protection.ts';
import type { Steps } from '#shared/domain/model/steps.ts';
import { controllerOf, isDaemonSetPod } from '#shared/domain/pod/pod-owner.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import { compareWaiting } from '#shared/domain/queue/let-in.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { GivingNode, ReclaimQuestion } from '#shared/domain/queue/reclaim.ts';
import { AmountsByQueue, subtractAmounts, sumUsage } from '#shared/domain/queue/usage.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import type { NodeEntry } from '#shared/domain/snapshot/node-entry.ts';
import type { PlacedPod } from '#shared/domain/snapshot/placed-pod.ts';
import { PROTECTED_NAMESPACES } from '#shared/kube/api-names.ts';
import type { QueuePlan } from './plan-pass.ts';
import type { QueuedPod, QueuedPods } from './queued-pods.ts';

const NODES_PER_STEP = 20;

export interface ReclaimInput {
  readonly plan: QueuePlan;
  readonly pods: Pick<QueuedPods, 'values' | 'get' | 'amountsOf'>;
  readonly snapshot: ClusterSnapshot;
}

/** What the questions about all takers of one moment have in common. */
export type ReclaimState = Pick<ReclaimQuestion, 'tree' | 'nodes' | 'budgets'> & {
  /** What was let in and is not terminating, by queue name, of its own pods. */
  readonly own: ReadonlyMap<string, QueueAmounts>;
};

/** Pods that were let in and have no node, in the order in which room is sought for them. */
export function takersOf({ pods }: Pick<ReclaimInput, 'pods'>): readonly WaitingPod[] {
  const takers: WaitingPod[] = [];
  for (const pod of pods.values()) {
    if (pod.admitted !== undefined && !pod.isBound && pod.otherGates === undefined) takers.push(takerOf(pod));
  }
  return takers.sort(compareWaiting);
}

/** As it was when it was let in (S2-35). */
function takerOf({
  uid,
  namespace,
  name,
  admitted,
  application,
  priority,
  requests,
  createdAt,
}: QueuedPod): WaitingPod {
  return {
    ...{ uid, priority, requests, name: `${namespace}/${name}` },
    queue: admitted?.queue ?? '',
    application: admitted?.application ?? application,
    waitingSince: admitted?.at ?? createdAt,
    mayPreempt: admitted?.mayPreempt === true,
    ...{ isCharged: true, isOriginator: false, isDaemonSet: false },
  };
}

/** Looks at every node: what is free there, and which pods of queues run on it. */
export function* readReclaimState(input: ReclaimInput): Steps<ReclaimState> {
  const { plan, pods, snapshot } = input;
  const own = new AmountsByQueue();
  for (const pod of pods.values()) {
    if (pod.admitted === undefined || snapshot.placedPods.get(pod.uid)?.pod.deletion !== undefined) continue;
    own.add(pod.admitted.queue, pod.requests);
  }
  yield;
  const nodes: GivingNode[] = [];
  for (const entry of snapshot.nodes.values()) {
    nodes.push(givingNode(entry, input));
    if (nodes.length % NODES_PER_STEP === 0) yield;
  }
  return { tree: plan.directory.tree, nodes, budgets: budgetsOf(snapshot), own: own.sums };
}

/** The question about one taker: what it asks for itself is not what its queue has. */
export function questionOf({ own, ...state }: ReclaimState, pod: WaitingPod, now: Instant): ReclaimQuestion {
  const others = new Map(own.get(pod.queue));
  subtractAmounts(others, pod.requests);
  return { ...state, usage: sumUsage(state.tree, new Map([...own, [pod.queue, others]])), pod, now };
}

/** What terminating pods hold counts as free, what nominated pods are promised does not. */
function givingNode({ node, occupancy }: NodeEntry, input: ReclaimInput): GivingNode {
  const free = new Map(queueAmounts(node.allocatable));
  const staying = occupancy.pods.filter(({ pod }) => pod.deletion === undefined);
  for (const { pod } of [...staying, ...occupancy.nominated]) subtractAmounts(free, input.pods.amountsOf(pod));
  return { name: node.name, free, pods: staying.flatMap((placed) => runningPod(placed, input)) };
}

/** A pod that may have to go: one that was let in, and is not protected. */
function runningPod({ pod, budgets }: PlacedPod, { pods, snapshot }: ReclaimInput): readonly RunningPod[] {
  const queued = pods.get(pod.uid);
  if (queued?.admitted === undefined || isProtected(pod)) return [];
  const { queue, application, mayBePreempted } = queued.admitted;
  const { uid, namespace, name, priority, requests } = queued;
  return [
    {
      ...{ uid, priority, requests, queue, application, mayBePreempted, name: `${namespace}/${name}` },
      isOriginator: false,
      isDaemonSet: isDaemonSetPod(pod, snapshot.daemonSets),
      startedAt: pod.status.startTime,
      hasController: controllerOf(pod) !== undefined,
      ownerDisruptedAt: undefined,
      budgets: budgets.map(({ budget }) => `${budget.namespace}/${budget.name}`),
    },
  ];
}

function isProtected(pod: Pod): boolean {
  return hasCriticalPriority(pod) || PROTECTED_NAMESPACES.some((each) => each === pod.namespace);
}

function budgetsOf({ budgets }: ClusterSnapshot): ReadonlyMap<string, number> {
  const allowed = new Map<string, number>();
  for (const [namespace, named] of budgets) {
    for (const [name, { budget }] of named) allowed.set(`${namespace}/${name}`, Math.max(0, budget.disruptionsAllowed));
  }
  return allowed;
}

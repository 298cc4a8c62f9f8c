import { decodeAdmitted } from '#shared/api/admitted.ts';
import { declaredCapacity, decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { criticalProtection } from '#shared/domain/eviction/protection.ts';
import { controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { podRequests, SCHEDULER_VIEW } from '#shared/domain/pod/pod-requests.ts';
import { hasEnded, type Pod } from '#shared/domain/pod/pod.ts';
import { minus } from '#shared/domain/quantity/whole.ts';
import { type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import { compareGoingFirst, type RunningPod, type WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import type { GivingNode } from '#shared/domain/queue/reclaim.ts';
import { sumAmounts } from '#shared/domain/queue/usage.ts';
import { findQueue, type QueueDirectory } from '#shared/domain/queueing/find-queue.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { priorityOf } from '#shared/domain/snapshot/placed-pod.ts';
import { podKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import { ownerWishes } from '#shared/kube/annotations/annotations.ts';
import { applicationOf, isManaged } from '#shared/kube/annotations/queue-marks.ts';
import { ANNOTATION_ADMITTED, LABEL_QUEUE } from '#shared/kube/api-names.ts';
import { fieldOf } from '#shared/kube/kube-object.ts';
import { apiVersionOf, QUEUES } from '#shared/kube/resource.ts';
import { clusterModel, type ClusterModel, decodeManifest } from '#cli/cluster/cluster-model.ts';
import type { ClusterManifests } from '#cli/cluster/read-manifests.ts';
import { typeOf } from '#cli/manifests/parse-manifests.ts';

/** Queues and the pods in them, as the leader of the queues would see them. */
export interface QueueScene {
  readonly tree: QueueTree;
  readonly total: QueueAmounts;
  readonly waiting: readonly QueuedPod<WaitingPod>[];
  readonly running: readonly QueuedPod<RunningPod>[];
  readonly nodes: readonly GivingNode[];
  readonly budgets: ReadonlyMap<string, number>;
  readonly snapshot: ClusterSnapshot;
}

interface QueuedPod<Kind> {
  readonly pod: Kind;
  readonly object: Pod;
}

/** Sorts the pods of managed namespaces into their queues. Throws an InputError for an object that cannot be read. */
export function queueScene(read: ClusterManifests): QueueScene {
  const model = clusterModel(read);
  const objects = read.manifests
    .filter((each) => typeOf(each) === typeOf({ apiVersion: apiVersionOf(QUEUES), kind: QUEUES.kind }))
    .map((each) => decodeManifest(each, decodeQueue));
  const directory = queueDirectory(objects);
  const pods = model.pods.filter((pod) => !hasEnded(pod));
  const queued = pods.flatMap((pod) => {
    const queue = queueNameOf(pod, model, directory);
    return queue === undefined ? [] : [{ pod, queue }];
  });
  const snapshot = createSnapshot({ ...model, pods });
  const running = queued.filter(({ pod }) => isBound(pod)).map((each) => runningPod(each, model, snapshot));
  const outside = pods.filter((pod) => isBound(pod) && !queued.some((each) => each.pod === pod));
  return {
    tree: directory.tree,
    total:
      declaredCapacity(objects) ??
      less(sumAmounts(model.nodes.map(({ allocatable }) => queueAmounts(allocatable))), outside),
    waiting: queued.filter(({ pod }) => !isBound(pod)).map((each) => waitingPod(each, model)),
    running,
    nodes: givingNodes(model, pods, running),
    budgets: new Map(model.budgets.map((each) => [budgetName(each), each.disruptionsAllowed])),
    snapshot,
  };
}

interface PodInQueue {
  readonly pod: Pod;
  readonly queue: string;
}

/** What was written when the pod was let in, else what its labels and its namespace say now. */
function queueNameOf(pod: Pod, { namespaces }: ClusterModel, directory: QueueDirectory): string | undefined {
  const labels = namespaces.find(({ name }) => name === pod.namespace)?.labels ?? new Map<string, string>();
  if (!isManaged(labels)) return undefined;
  const admitted = decodeAdmitted(pod.annotations.get(ANNOTATION_ADMITTED));
  if (admitted !== undefined) return admitted.queue;
  const names = { label: pod.labels.get(LABEL_QUEUE) ?? '', namespaceQueue: labels.get(LABEL_QUEUE) ?? '' };
  const found = findQueue({ ...names, namespace: pod.namespace, namespaceLabels: labels }, directory);
  return found.kind === 'queue' ? found.name : undefined;
}

function isBound({ spec }: Pod): boolean {
  return (spec.nodeName ?? '') !== '';
}

function requestsOf(pod: Pod): QueueAmounts {
  return queueAmounts(podRequests(pod, SCHEDULER_VIEW));
}

function commonOf({ pod, queue }: PodInQueue) {
  const { namespace, name, uid } = pod;
  return {
    ...{ uid, queue },
    name: `${namespace}/${name}`,
    application: applicationOf(pod),
    priority: priorityOf(pod),
    requests: requestsOf(pod),
    isOriginator: false,
    isDaemonSet: controllerOf(pod)?.kind === 'DaemonSet',
  };
}

function waitingPod(each: PodInQueue, { podManifests }: ClusterModel): QueuedPod<WaitingPod> {
  const { namespace, name, spec } = each.pod;
  const created = Date.parse(
    String(fieldOf(podManifests.get(`${namespace}/${name}`)?.raw['metadata'], 'creationTimestamp')),
  );
  const pod = {
    ...commonOf(each),
    waitingSince: Number.isNaN(created) ? 0 : created,
    mayPreempt: spec.preemptionPolicy !== 'Never',
    isCharged: true,
  };
  return { pod, object: each.pod };
}

function runningPod(
  each: PodInQueue,
  { classes }: ClusterModel,
  { placedPods }: ClusterSnapshot,
): QueuedPod<RunningPod> {
  const { pod } = each;
  const admitted = decodeAdmitted(pod.annotations.get(ANNOTATION_ADMITTED));
  const wishes = ownerWishes(pod.annotations, classes.get(pod.spec.priorityClassName ?? '')?.annotations);
  const running = {
    ...commonOf(each),
    mayBePreempted: admitted?.mayBePreempted ?? wishes.mayBePreempted,
    startedAt: pod.status.startTime,
    hasController: controllerOf(pod) !== undefined,
    ownerDisruptedAt: undefined,
    budgets: placedPods.get(podKey(pod))?.budgets.map(({ budget }) => budgetName(budget)) ?? [],
  };
  return { pod: running, object: pod };
}

function budgetName({ namespace, name }: { readonly namespace: string; readonly name: string }): string {
  return `${namespace}/${name}`;
}

/** Terminating pods give their room back by themselves; protected ones are no victims. */
function givingNodes(
  { nodes }: ClusterModel,
  pods: readonly Pod[],
  running: QueueScene['running'],
): readonly GivingNode[] {
  const staying = Map.groupBy(pods.filter(isStaying), ({ spec }) => spec.nodeName ?? '');
  const inQueues = Map.groupBy(
    running.filter(({ object }) => mayGo(object)),
    ({ object }) => object.spec.nodeName ?? '',
  );
  return nodes.map(({ name, allocatable }) => ({
    name,
    free: less(queueAmounts(allocatable), staying.get(name) ?? []),
    pods: (inQueues.get(name) ?? []).map(({ pod }) => pod).sort(compareGoingFirst),
  }));
}

function isStaying({ deletion }: Pod): boolean {
  return deletion === undefined;
}

function mayGo(pod: Pod): boolean {
  return isStaying(pod) && criticalProtection(pod) === undefined;
}

function less(amounts: QueueAmounts, pods: readonly Pod[]): QueueAmounts {
  const left = new Map(amounts);
  for (const [type, amount] of sumAmounts(pods.map(requestsOf))) {
    if (left.has(type)) left.set(type, minus(left.get(type) ?? 0, amount));
  }
  return left;
}

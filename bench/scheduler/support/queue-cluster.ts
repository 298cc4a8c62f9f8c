import { encodeAdmitted } from '#shared/api/admitted.ts';
import { secondsText } from '#shared/api/fields.ts';
import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { type ClusterSnapshot, emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNamespace, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { ANNOTATION_ADMITTED, QUEUE_GATE } from '#shared/kube/api-names.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { Clock } from '#shared/runtime/clock.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { templateOf } from '#scheduler/compact-pod.ts';
import { buildNode } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';

/** The size of a cluster: 30 running pods per node, and how many pods wait in how many queues. */
export interface QueueClusterSize {
  readonly nodes: number;
  readonly waiting: number;
  readonly queues: number;
}

/** 5,000 nodes with 150,000 running and 50,000 waiting pods in 1,000 queues, or the same in another size. */
export function sizeOf(nodes: number): QueueClusterSize {
  return { nodes, waiting: nodes * 10, queues: Math.round(nodes / 5) };
}

/** A cluster whose pods the leader of the queues knows. */
export interface QueueCluster {
  readonly snapshot: ClusterSnapshot;
  readonly pods: QueuedPods;
  readonly objects: readonly QueueObject[];
}

export const PODS_PER_NODE = 30;
const PODS_PER_OWNER = 10;
const LEAVES_PER_PARENT = 10;
const WITH_GUARANTEE = 4;
/** The guarantee of a queue, more than its pods use. */
const GUARANTEED_CPU = 400;
/** The pods of a node take all of its CPU. */
const ALLOCATABLE = { cpu: '30', memory: '128Gi', pods: '110' };
/** Each node has as many of each. */
const KINDS = [
  { cpu: '1', memory: '2Gi' },
  { cpu: '500m', memory: '1Gi' },
  { cpu: '1500m', memory: '4Gi' },
];

/** The same number below `bound` for the same index on every machine. */
export function draw(index: number, bound: number): number {
  return (Math.imul(index + 1, 0x9e3779b1) >>> 8) % bound;
}

/** Three levels: a hundredth of the queues at the top, a tenth below them, and the leaves, each with a namespace of its own. */
export function rawQueues(count: number): readonly object[] {
  const parents = Math.max(1, Math.round(count / LEAVES_PER_PARENT));
  const tops = Math.max(1, Math.round(parents / LEAVES_PER_PARENT));
  const top = Array.from({ length: tops }, (_, index) => rawQueue(`top-${index}`, {}));
  const middle = Array.from({ length: parents - tops }, (_, index) =>
    rawQueue(`parent-${index}`, { parent: `top-${index % tops}` }),
  );
  const leaves = Array.from({ length: count - parents }, (_, index) => {
    const guaranteed = index % WITH_GUARANTEE === 0 ? { guaranteed: { cpu: GUARANTEED_CPU } } : {};
    const namespaceSelector = { matchLabels: { team: `team-${index}` } };
    const parent = parents > tops ? `parent-${index % (parents - tops)}` : `top-${index % tops}`;
    return rawQueue(`leaf-${index}`, { parent, namespaceSelector, weight: 1 + draw(index, 5), ...guaranteed });
  });
  return [...top, ...middle, ...leaves];
}

function rawQueue(name: string, spec: object): object {
  return { metadata: { name, uid: `queue-${name}`, resourceVersion: '1', generation: 1 }, spec };
}

/** Namespaces of the leaves, all of them managed. */
export function rawNamespaces(queues: number): readonly object[] {
  return Array.from({ length: leavesOf(queues) }, (_, index) => {
    const name = `team-${index}`;
    const labels = { team: name, 'plimsoll.dev/queues': 'managed' };
    return { metadata: { name, uid: `namespace-${index}`, resourceVersion: '1', labels } };
  });
}

/** How many queues have no children. */
export function leavesOf(queues: number): number {
  return queues - Math.max(1, Math.round(queues / LEAVES_PER_PARENT));
}

/** The pod with this number: first the running ones, then the waiting ones. Its owner has ten equal pods. */
export function rawQueuedPod(index: number, { nodes, queues }: QueueClusterSize, now: number): KubeObject {
  const running = nodes * PODS_PER_NODE;
  const isRunning = index < running;
  const owner = Math.floor(index / PODS_PER_OWNER);
  const leaf = leafOf(owner, leavesOf(queues), isRunning);
  const uid = `00000000-0000-4000-8000-${index.toString(16).padStart(12, '0')}`;
  const kind = isRunning ? Math.floor(index / nodes) : owner;
  const requests = KINDS[kind % KINDS.length];
  const createdAt = now - 3_600_000 + (isRunning ? 0 : draw(index, 1_800_000));
  return {
    metadata: {
      name: `web-${owner.toString(36)}-${index.toString(36)}`,
      namespace: `team-${leaf}`,
      uid,
      resourceVersion: String(1_000_000 + index),
      creationTimestamp: secondsText(createdAt),
      labels: { app: `web-${owner}` },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: `web-${owner}`, uid: `rs-${owner}`, controller: true },
      ],
      ...(isRunning && { annotations: { [ANNOTATION_ADMITTED]: admittedText(index, owner, leaf, createdAt) } }),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests } }],
      priority: draw(owner * 5, 3),
      priorityClassName: 'standard',
      ...(isRunning ? { nodeName: `node-${index % nodes}` } : { schedulingGates: [{ name: QUEUE_GATE }] }),
    },
    status: isRunning
      ? { phase: 'Running', startTime: secondsText(createdAt + draw(index, 1_000) * 1_000) }
      : { phase: 'Pending' },
  };
}

/** Queues with a guarantee have half as many running pods as the others, and twice as many waiting ones. */
function leafOf(owner: number, leaves: number, isRunning: boolean): number {
  const leaf = draw(owner, leaves);
  const hasGuarantee = leaf % WITH_GUARANTEE === 0;
  return hasGuarantee === isRunning && draw(owner * 3, 2) === 0 ? (leaf + 1) % leaves : leaf;
}

function admittedText(index: number, owner: number, leaf: number, at: number): string {
  const decision = `00000000-0000-4000-9000-${Math.floor(index / 1_000)
    .toString(16)
    .padStart(12, '0')}`;
  const wishes = { mayPreempt: true, mayBePreempted: index % 20 !== 0 };
  return encodeAdmitted({ queue: `leaf-${leaf}`, application: `rs-${owner}`, ...wishes, at, decision });
}

/** Reads such a cluster as the scheduler process does; without `withQueues`, as if the queues were off. */
export function createQueueCluster(
  size: QueueClusterSize,
  clock: Pick<Clock, 'now'>,
  { withQueues = true } = {},
): QueueCluster {
  const snapshot = emptySnapshot();
  const pods = new QueuedPods(clock, templateOf);
  const read = createPodReader();
  for (const { name, labels } of rawNamespaces(size.queues).map(namespaceOf)) {
    putNamespace(snapshot, { name, labels: new Map(Object.entries(labels)) });
  }
  for (let index = 0; index < size.nodes; index += 1) {
    putNode(snapshot, buildNode({ name: `node-${index}`, allocatable: ALLOCATABLE }));
  }
  const now = clock.now();
  for (let index = 0; index < size.nodes * PODS_PER_NODE + size.waiting; index += 1) {
    // From the text, as from the wire: no two pods share a string.
    const raw = JSON.parse(JSON.stringify(rawQueuedPod(index, size, now))) as KubeObject;
    const pod = read(raw);
    putPod(snapshot, pod);
    if (withQueues) pods.observe({ pod, raw }, snapshot);
  }
  return { snapshot, pods, objects: rawQueues(size.queues).map((raw) => valueOf(decodeQueue(raw))) };
}

function namespaceOf(raw: object): { readonly name: string; readonly labels: Readonly<Record<string, string>> } {
  return (raw as { readonly metadata: ReturnType<typeof namespaceOf> }).metadata;
}

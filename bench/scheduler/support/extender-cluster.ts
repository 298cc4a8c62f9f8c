import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { AnnotatedClass } from '#shared/domain/priority/classes-and-policies.ts';
import { decodeWith } from '#shared/kube/reflector/reflector.ts';
import { PodAmounts } from '#shared/decide/queues/queue-charges.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { templateOf } from '#scheduler/compact-pod.ts';
import { createQueueKeeper } from '#scheduler/extender/preemption-rules.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { decodeStoredQueue, type StoredQueue } from '#scheduler/queues/stored-queue.ts';
import { buildNode } from '#test/build/cluster.ts';

export const NODES = 500;
export const PODS_PER_NODE = 30;

/** The parameters of one run of the benchmark. */
export interface Case {
  readonly victims: number;
  /** Share of the nodes. */
  readonly guarded: number;
  readonly queues: boolean;
}

/** The class of pods that opted out. */
export const OPTED_OUT = {
  name: 'stays',
  annotations: new Map([['plimsoll.dev/allow-preemption', 'false']]),
} as unknown as AnnotatedClass;

function nameOf(node: number, pod: number): string {
  return `pod-${node}-${pod}`;
}

/** As long as those of Kubernetes. */
export function uidOf(node: number, pod: number): string {
  return `00000000-0000-4000-${String(node).padStart(4, '0')}-${String(pod).padStart(12, '0')}`;
}

/** The cluster of a run, with the pods that its queues protect; the pods are read as in the process. */
export function clusterOf({ guarded, queues }: Case) {
  const readPod = createPodReader();
  const stored = queues ? ['giver', 'taker'].map(storedQueue) : [];
  const nodes = Array.from({ length: NODES }, (_, node) =>
    buildNode({ name: `node-${node}`, allocatable: { cpu: '30', memory: '64Gi' } }),
  );
  const raws = nodes.flatMap((_, node) =>
    Array.from({ length: PODS_PER_NODE }, (_, pod) => rawPod(node, pod, pod === 0 && node < NODES * guarded)),
  );
  const pods = raws.map((raw) => ({ pod: readPod(raw), raw, previous: undefined }));
  const labels = new Map<string, string>(queues ? [['plimsoll.dev/queues', 'managed']] : []);
  const namespaces = [{ name: 'default', labels }];
  const snapshot = createSnapshot({ nodes, pods: pods.map(({ pod }) => pod), namespaces });
  const nothingElse = { onChange: () => () => undefined, isSynced: () => true, lastContactMs: () => undefined };
  const keeper = createQueueKeeper({
    snapshot,
    namespaces: nothingElse,
    isStale: () => false,
    amounts: new PodAmounts(templateOf),
    queues: { ...nothingElse, size: stored.length, values: () => stored },
    clock: systemClock,
  });
  for (const each of pods) keeper.observePod(each, snapshot);
  return { snapshot, keeper };
}

function storedQueue(name: string): StoredQueue {
  const raw = {
    metadata: { name, uid: name },
    spec: { guaranteed: { cpu: '10', memory: '10Gi' }, namespaceSelector: {} },
  };
  return decodeWith(decodeStoredQueue)(raw);
}

function rawPod(node: number, pod: number, isGuarded: boolean): KubeObject {
  const priorityClassName = isGuarded ? 'stays' : 'goes';
  const resources = { requests: { cpu: '1', memory: '1Gi' } };
  const spec = {
    nodeName: `node-${node}`,
    priority: pod,
    priorityClassName,
    containers: [{ name: 'main', resources }],
  };
  const labels = { 'plimsoll.dev/queue': 'giver' };
  return { metadata: { namespace: 'default', name: nameOf(node, pod), uid: flat(uidOf(node, pod)), labels }, spec };
}

/** Flat, like text that was read; V8 keeps concatenated text in pieces until it is needed as a whole. */
function flat(text: string): string {
  return Buffer.from(text).toString();
}

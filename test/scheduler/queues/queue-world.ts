import { encodeAdmitted } from '#shared/api/admitted.ts';
import { declaredCapacity, decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { finish } from '#shared/domain/model/steps.ts';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNamespace, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { planPass, type QueuePlan } from '#scheduler/queues/plan-pass.ts';
import { QueuedPods } from '#scheduler/queues/queued-pods.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { buildNode } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';

export const GATE = 'plimsoll.dev/queue';

/** A pod as the watch of the scheduler process shows it. */
export interface WatchedPod {
  readonly name: string;
  readonly namespace?: string;
  readonly cpu?: number;
  readonly gates?: readonly string[];
  readonly node?: string;
  readonly phase?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Of the annotation that lets it in. */
  readonly admittedTo?: string;
  readonly spec?: object;
  readonly mayBePreempted?: boolean;
  readonly mayPreempt?: boolean;
  readonly priority?: number;
  readonly isTerminating?: boolean;
  /** In seconds. */
  readonly createdAt?: number;
}

const PLAIN = {
  namespace: 'shop',
  cpu: 1,
  gates: [],
  phase: 'Pending',
  labels: {},
  priority: 0,
  createdAt: 0,
} as const;

/** The raw object of it; its UID is `uid-NAME`. */
export function rawPod(pod: WatchedPod): KubeObject {
  const { name, namespace, cpu, gates, node, phase, labels, priority, createdAt, ...rest } = { ...PLAIN, ...pod };
  return {
    metadata: {
      ...{ name, namespace, uid: `uid-${name}`, resourceVersion: '7', labels },
      creationTimestamp: timeOf(createdAt),
      ...(rest.isTerminating === true && { deletionTimestamp: timeOf(0), deletionGracePeriodSeconds: 30 }),
      ...annotationsOf(pod),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu: `${cpu}` } } }],
      schedulingGates: gates.map((gate) => ({ name: gate })),
      priority,
      ...(node !== undefined && { nodeName: node }),
      ...rest.spec,
    },
    status: { phase },
  };
}

function annotationsOf({ name, admittedTo: queue, mayPreempt = false, mayBePreempted = false }: WatchedPod): object {
  if (queue === undefined) return {};
  const facts = { queue, application: `app of ${name}`, mayPreempt, mayBePreempted, at: 0, decision: 'd' };
  return { annotations: { 'plimsoll.dev/admitted': encodeAdmitted(facts) } };
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** A cluster of one node with 8 CPUs, and the managed namespace `shop` with the label team=shop. */
export function queueWorld(queues: readonly object[]) {
  const snapshot = emptySnapshot();
  const pods = new QueuedPods();
  const read = createPodReader();
  const objects = queues.map((queue) => valueOf(decodeQueue(queue)));
  putNode(snapshot, buildNode({ name: 'node-0', allocatable: { cpu: '8' } }));
  const manage = (name: string, labels: Readonly<Record<string, string>>): void =>
    putNamespace(snapshot, { name, labels: new Map(Object.entries(labels)) });
  manage('shop', { team: 'shop', 'plimsoll.dev/queues': 'managed' });
  return {
    pods,
    snapshot,
    manage,
    see: (pod: WatchedPod): void => {
      const raw = rawPod(pod);
      const decoded = read(raw);
      putPod(snapshot, decoded);
      pods.observe({ pod: decoded, raw }, snapshot);
    },
    plan: (isReclaiming = false): QueuePlan => {
      const settings = { directory: queueDirectory(objects), capacity: declaredCapacity(objects) };
      return finish(planPass({ pods, snapshot, isReclaiming, ...settings }));
    },
  };
}

/** A Queue that selects a team. */
export function queueFor(team: string, spec: object = {}, name = `of-${team}`): object {
  return { metadata: { name }, spec: { namespaceSelector: { matchLabels: { team } }, ...spec } };
}

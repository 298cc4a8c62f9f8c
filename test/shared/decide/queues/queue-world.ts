import { type AdmittedGang, encodeAdmitted } from '#shared/api/admitted.ts';
import { declaredCapacity, decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNamespace, putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod, removePodByKey } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { ReclaimBy } from '#shared/domain/queue/pass-stages.ts';
import type { IsGuarded } from '#shared/decide/queues/forged-marks.ts';
import { planPass, type QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import type { QueuePassInput } from '#shared/decide/queues/sort-pods.ts';
import { QueuedPods } from '#shared/decide/queues/queued-pods.ts';
import { createPodReader } from '#scheduler/read-pods.ts';
import { templateOf } from '#scheduler/compact-pod.ts';
import { buildNode } from '#test/build/cluster.ts';
import { valueOf } from '#test/build/value-of.ts';

export const GATE = 'plimsoll.dev/queue';

/** A pod as the watch of the scheduler process shows it. Times are in seconds. */
export interface WatchedPod {
  readonly name: string;
  readonly namespace?: string;
  readonly cpu?: number;
  readonly gates?: readonly string[];
  readonly node?: string;
  readonly nominatedTo?: string;
  readonly phase?: string;
  readonly startedAt?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly owners?: readonly object[];
  readonly isDisrupted?: boolean;
  readonly conditions?: readonly object[];
  /** Of the annotation that lets it in. */
  readonly admittedTo?: string;
  readonly admittedAt?: number;
  /** The gang with which it was let in. */
  readonly admittedAs?: AdmittedGang;
  readonly application?: string;
  /** The CPUs that its queue used before it went in against another pod. */
  readonly against?: number;
  readonly spec?: object;
  readonly mayBePreempted?: boolean;
  /** Further annotations. */
  readonly wishes?: Readonly<Record<string, string>>;
  readonly mayPreempt?: boolean;
  readonly priority?: number;
  /** When a terminating pod has to be gone. */
  readonly deletionAt?: number;
  readonly deletionGraceSeconds?: number;
  readonly createdAt?: number;
}

const PLAIN = {
  namespace: 'shop',
  cpu: 1,
  gates: [],
  phase: 'Pending',
  labels: {},
  owners: [],
  priority: 0,
  createdAt: 0,
} as const;

/** The raw object of it; its UID is `uid-NAME`. */
export function rawPod(pod: WatchedPod): KubeObject {
  const { name, namespace, cpu, gates, node, labels, priority, createdAt, ...rest } = { ...PLAIN, ...pod };
  return {
    metadata: {
      name,
      namespace,
      uid: `uid-${name}`,
      resourceVersion: '7',
      labels,
      creationTimestamp: timeOf(createdAt),
      ownerReferences: rest.owners,
      ...deletionOf(pod),
      ...annotationsOf(pod),
    },
    spec: {
      containers: [{ name: 'main', resources: { requests: { cpu: `${cpu}` } } }],
      schedulingGates: gates.map((gate) => ({ name: gate })),
      priority,
      ...(node !== undefined && { nodeName: node }),
      ...rest.spec,
    },
    status: statusOf(rest),
  };
}

function deletionOf({ deletionAt, deletionGraceSeconds = 30 }: WatchedPod): object {
  if (deletionAt === undefined) return {};
  return { deletionTimestamp: timeOf(deletionAt), deletionGracePeriodSeconds: deletionGraceSeconds };
}

type Shown = Pick<WatchedPod, 'phase' | 'nominatedTo' | 'startedAt' | 'isDisrupted' | 'conditions'>;

function statusOf({ phase, nominatedTo, startedAt, isDisrupted, conditions = [] }: Shown): object {
  const target = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };
  return {
    phase,
    nominatedNodeName: nominatedTo,
    ...(startedAt !== undefined && { startTime: timeOf(startedAt) }),
    conditions: isDisrupted === true ? [...conditions, target] : conditions,
  };
}

function annotationsOf({ name, admittedTo: queue, admittedAt = 0, ...pod }: WatchedPod): object {
  if (queue === undefined) return pod.wishes === undefined ? {} : { annotations: pod.wishes };
  const { application = `app of ${name}`, mayPreempt = false, mayBePreempted = false, against, admittedAs: gang } = pod;
  const facts = {
    queue,
    application,
    mayPreempt,
    mayBePreempted,
    at: admittedAt * 1_000,
    decision: 'd',
    ...(gang !== undefined && { gang }),
    ...(against !== undefined && { against: new Map([['cpu', against * 1_000]]) }),
  };
  return { annotations: { ...pod.wishes, 'plimsoll.dev/admitted': encodeAdmitted(facts) } };
}

function timeOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString();
}

/** CPUs by name of the node. */
export type NodeSizes = Readonly<Record<string, number>>;

/** When the process sees what it sees. */
const SEEN_AT_MS = 100_000;

/** What the process of a world knows beside its objects. */
interface Seeing {
  readonly isGuarded?: IsGuarded;
  readonly now?: () => number;
}

/** A cluster of one node with 8 CPUs, and the managed namespace `shop` with the label team=shop. */
export function queueWorld(
  queues: readonly object[],
  nodes: NodeSizes = { 'node-0': 8 },
  { isGuarded, now = () => SEEN_AT_MS }: Seeing = {},
) {
  const snapshot = emptySnapshot();
  const pods = new QueuedPods({ now }, templateOf, isGuarded);
  const read = createPodReader();
  const objects = queues.map((queue) => valueOf(decodeQueue(queue)));
  for (const [name, cpu] of Object.entries(nodes)) {
    putNode(snapshot, buildNode({ name, allocatable: { cpu: `${cpu}` } }));
  }
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
    gone: (name: string): void => {
      removePodByKey(snapshot, `uid-${name}`);
      pods.gone(`uid-${name}`);
    },
    plan: (
      isReclaiming = false,
      reclaimBy: ReclaimBy = 'Guarantees',
      more: Partial<QueuePassInput> = {},
    ): QueuePlan => {
      const settings = {
        now: 0,
        replacements: 'First' as const,
        directory: queueDirectory(objects),
        capacity: declaredCapacity(objects),
      };
      return finish(planPass({ pods, snapshot, isReclaiming, reclaimBy, ...settings, ...more }));
    },
  };
}

/** A Queue that selects a team. */
export function queueFor(team: string, spec: object = {}, name = `of-${team}`): object {
  return { metadata: { name }, spec: { namespaceSelector: { matchLabels: { team } }, ...spec } };
}

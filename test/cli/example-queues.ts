import { encodeAdmitted } from '#shared/api/admitted.ts';

/** A small cluster with two queues that tests and docs/guides/queues.md show: batch has borrowed, research asks back. */
const QUEUE = { apiVersion: 'plimsoll.dev/v1alpha1', kind: 'Queue' };

function queue(name: string, spec: object): object {
  return { ...QUEUE, metadata: { name }, spec: { namespaceSelector: { matchLabels: { team: name } }, ...spec } };
}

function namespace(name: string): object {
  const labels = { team: name, 'plimsoll.dev/queues': 'managed' };
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } };
}

function node(name: string): object {
  const allocatable = { cpu: '4', memory: '8Gi', pods: '110' };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { allocatable } };
}

export interface QueuedExample {
  readonly name: string;
  readonly cpu: number;
  readonly minute: number;
  readonly node?: string;
  readonly annotations?: object;
  readonly owners?: readonly object[];
}

/** A pod of a team; without a node it waits. */
export function queuedPod(
  team: string,
  { name, cpu, minute, node: nodeName, annotations, owners }: QueuedExample,
): object {
  const at = `2026-01-01T11:5${minute}:00Z`;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: team,
      uid: `uid-${name}`,
      creationTimestamp: at,
      labels: { app: 'train' },
      annotations: annotations ?? (nodeName === undefined ? {} : admittedTo(team, name, at)),
      ...(owners !== undefined && { ownerReferences: owners }),
    },
    spec: {
      ...(nodeName !== undefined && { nodeName }),
      containers: [{ name: 'main', resources: { requests: { cpu: String(cpu), memory: '1Gi' } } }],
    },
    status: nodeName === undefined ? { phase: 'Pending' } : { phase: 'Running', startTime: at },
  };
}

/** As the leader of the queues has let it in. */
function admittedTo(queue: string, name: string, at: string): object {
  const facts = { queue, application: `uid-${name}`, mayPreempt: true, mayBePreempted: true, decision: 'd' };
  return { 'plimsoll.dev/admitted': encodeAdmitted({ ...facts, at: Date.parse(at) }) };
}

const TRAINING = Array.from({ length: 6 }, (_, index) =>
  queuedPod('batch', { name: `train-${index}`, cpu: 1, minute: index, node: `node-${1 + Math.floor(index / 3)}` }),
);

/** Everything but the pods that wait. */
export const QUEUE_CLUSTER: readonly object[] = [
  queue('research', { guaranteed: { cpu: '4' } }),
  queue('batch', { guaranteed: { cpu: '2' } }),
  ...['research', 'batch'].map(namespace),
  ...['node-1', 'node-2'].map(node),
  ...TRAINING,
  queuedPod('research', { name: 'notebook-0', cpu: 1, minute: 1, node: 'node-1' }),
];

/** With a pod of each queue that waits. */
export const EXAMPLE_QUEUES: readonly object[] = [
  ...QUEUE_CLUSTER,
  queuedPod('research', { name: 'notebook-1', cpu: 2, minute: 7 }),
  queuedPod('batch', { name: 'train-6', cpu: 1, minute: 7 }),
];

/** A small cluster that the tests and docs/guides/command-line.md show: three nodes, two of them full. */
const TAKEN = {
  status: { allocatable: { cpu: '4', memory: '8Gi', pods: '110' }, capacity: { cpu: '4', memory: '8Gi' } },
};

function node(name: string, zone: string): object {
  const labels = { 'kubernetes.io/hostname': name, 'topology.kubernetes.io/zone': zone };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}`, labels }, ...TAKEN };
}

export function priorityClass(name: string, value: number, annotations: object = {}): object {
  return { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass', metadata: { name, annotations }, value };
}

export interface ExamplePod {
  readonly name: string;
  readonly namespace: string;
  readonly className: string;
  readonly priority: number;
  readonly cpu: string;
  readonly node?: string;
  readonly metadata?: object;
  readonly spec?: object;
  readonly status?: object;
}

/** The UID of a pod of that cluster, which does not tell its name. */
export function uidOf(name: string): string {
  return `uid-${Buffer.from(name).toString('hex')}`;
}

/** A pod of that cluster, with an environment and annotations that a snapshot must not hold. */
export function examplePod({ name, namespace, className, priority, cpu, ...rest }: ExamplePod): object {
  const env = [{ name: 'PASSWORD', value: 'hunter2' }];
  const resources = { requests: { cpu, memory: '1Gi' } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      uid: uidOf(name),
      labels: { app: name.replace(/-\d+$/, ''), team: namespace },
      annotations: { 'example.com/contact': 'alice@example.com' },
      creationTimestamp: '2026-01-01T08:00:00Z',
      ...rest.metadata,
    },
    spec: {
      ...(rest.node !== undefined && { nodeName: rest.node }),
      priorityClassName: className,
      priority,
      containers: [{ name: 'main', image: 'registry.example.com/app:1', env, resources }],
      ...rest.spec,
    },
    status: { phase: rest.node === undefined ? 'Pending' : 'Running', ...rest.status },
  };
}

const RUNNING = { status: { startTime: '2026-01-01T09:00:00Z' } };
const BUDGET = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'ledger', namespace: 'payments' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'ledger' } } },
  status: { disruptionsAllowed: 0, disruptedPods: {} },
};

/** Every object of it. */
export const EXAMPLE_CLUSTER: readonly object[] = [
  node('node-1', 'a'),
  node('node-2', 'a'),
  { ...node('node-3', 'b'), spec: { unschedulable: true } },
  ...['payments', 'reports'].map((name) => ({
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name, labels: { 'kubernetes.io/metadata.name': name } },
  })),
  priorityClass('critical', 1000),
  priorityClass('batch', -10),
  priorityClass('kept', -20, { 'plimsoll.dev/allow-preemption': 'false' }),
  BUDGET,
  examplePod({
    name: 'nightly-0',
    namespace: 'reports',
    className: 'batch',
    priority: -10,
    cpu: '3',
    node: 'node-1',
    ...RUNNING,
  }),
  examplePod({
    name: 'archive-0',
    namespace: 'reports',
    className: 'kept',
    priority: -20,
    cpu: '3',
    node: 'node-2',
    ...RUNNING,
  }),
  examplePod({
    name: 'ledger-0',
    namespace: 'payments',
    className: 'critical',
    priority: 1000,
    cpu: '1',
    node: 'node-2',
    ...RUNNING,
  }),
  examplePod({ name: 'checkout-0', namespace: 'payments', className: 'critical', priority: 1000, cpu: '2' }),
];

/** It as a List, as `plimsoll` reads it from a file. */
export function clusterFile(objects: readonly object[] = EXAMPLE_CLUSTER): string {
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
}

import { blocksOf } from '#test/docs/shown-commands.ts';
import { EVICTED, exampleDisruption } from '#test/cli/disruptions/example-disruptions.ts';

/** Runs kubectl as the administrator. */
type Kubectl = (args: readonly string[], input?: string) => Promise<string>;

const NAMESPACE = 'shop';
const CONTAINER = { name: 'app', image: 'app' };

function pod(name: string, spec: object = {}): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: NAMESPACE, labels: { app: name } },
    spec: { containers: [CONTAINER], ...spec },
  };
}

const REFUSAL = {
  apiVersion: 'events.k8s.io/v1',
  kind: 'Event',
  metadata: { name: 'web-5d.1', namespace: NAMESPACE },
  regarding: { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web-5d', namespace: NAMESPACE },
  reason: 'FailedCreate',
  note: 'Error creating: pods "web-5d-" is forbidden: exceeded quota: high',
  type: 'Warning',
  action: 'Creating',
  eventTime: '2026-01-01T12:00:00.000000Z',
  reportingController: 'replicaset-controller',
  reportingInstance: 'replicaset-controller',
};

function removed(name: string, cause: 'Preemption' | 'Rescheduling', text: string): object {
  const because = { code: cause, text, facts: {} };
  return exampleDisruption({
    pod: name,
    namespace: NAMESPACE,
    cause,
    removedAt: '2026-01-01T12:00:00Z',
    spec: { because },
  });
}

const OBJECTS: readonly object[] = [
  pod('waiting', { schedulingGates: [{ name: 'plimsoll.dev/queue' }] }),
  pod('big', { schedulerName: 'nobody' }),
  pod('leaky', { nodeName: 'far-away' }),
  REFUSAL,
  { ...EVICTED, metadata: { name: 'nightly-7.1', namespace: NAMESPACE } },
  removed('cheap-0', 'Preemption', 'a scheduler preempted it'),
  removed('moved-0', 'Rescheduling', 'node-2 is less full'),
  {
    apiVersion: 'v1',
    kind: 'ResourceQuota',
    metadata: { name: 'all', namespace: NAMESPACE },
    spec: { hard: { 'requests.cpu': '4' } },
  },
  {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: { name: 'keep', namespace: NAMESPACE },
    spec: { minAvailable: 1, selector: { matchLabels: { app: 'leaky' } } },
  },
];

const WAITS = {
  type: 'plimsoll.dev/WaitsInQueue',
  status: 'True',
  reason: 'AtShare',
  message: 'waits for 1 cpu: queue a',
};
const UNPLACED = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes are available' };
const KILLED = {
  name: 'app',
  ready: false,
  restartCount: 1,
  image: 'app',
  imageID: '',
  state: { waiting: {} },
  lastState: { terminated: { exitCode: 137, reason: 'OOMKilled' } },
};

const STATUSES: readonly (readonly [string, object])[] = [
  ['waiting', { conditions: [WAITS] }],
  ['big', { conditions: [UNPLACED] }],
  ['leaky', { phase: 'Running', containerStatuses: [KILLED] }],
];

/** The namespace `shop` with pods that wait or were removed, and anna, who may view it and nothing else. */
export async function makeTenantScene(kubectl: Kubectl): Promise<void> {
  await kubectl(['create', 'namespace', NAMESPACE]);
  for (const role of ['view', 'plimsoll-viewer'])
    await kubectl(['-n', NAMESPACE, 'create', 'rolebinding', role, `--clusterrole=${role}`, '--user=anna']);
  for (const object of OBJECTS) await kubectl(['create', '-f', '-'], JSON.stringify(object));
  for (const [name, status] of STATUSES)
    await kubectl(['-n', NAMESPACE, 'patch', 'pod', name, '--subresource=status', '-p', JSON.stringify({ status })]);
}

/** What the page for application teams answers: the question, the command, and what its answer says. */
export const QUESTIONS: readonly (readonly [string, string, string, ...string[]])[] = [
  [
    'why was my pod refused?',
    'explain pod web-5d-abcde',
    'ReplicaSet web-5d could not create it',
    'exceeded quota: high',
  ],
  ['how much of my quota is left?', 'top quotas', 'requests.cpu', 'priorityquotas.plimsoll.dev'],
  ['why was my pod evicted?', 'explain pod nightly-7', 'was evicted from node node-1'],
  [
    'what did it use against its request?',
    'explain disruption nightly-7.1',
    'uses 2Gi memory, over its request of 1Gi',
  ],
  ['why was my pod preempted?', 'explain pod cheap-0', 'was preempted on node node-1', 'a scheduler preempted it'],
  ['why was my pod moved?', 'disruptions --cause Rescheduling', 'moved-0', 'node-2 is less full'],
  ['why was my pod killed?', 'explain pod leaky', 'OOMKilled: the kernel killed container app'],
  ['why does my pod wait in its queue?', 'why-not', 'waits for 1 cpu: queue a', '0/3 nodes are available'],
  ['which of my pods are in queues?', 'queue list', 'waits for 1 cpu: queue a'],
  ['why can I not evict it?', 'explain pod leaky', 'keep (0 disruptions allowed)'],
];

const ASKED = /^\$ plimsoll (.*) -n shop$/;

/** The lines that a page shows below each of these commands; it may leave lines out. */
export function answersShown(markdown: string): ReadonlyMap<string, readonly string[]> {
  const blocks = blocksOf(markdown).filter(({ language }) => language === 'text');
  return new Map(
    blocks.flatMap(({ text }) => {
      const [command = '', ...lines] = text.trimEnd().split('\n');
      const [, args] = ASKED.exec(command) ?? [];
      return args === undefined ? [] : [[args, lines] as const];
    }),
  );
}

/** Ages grow, and columns with them. */
export function withoutTimes(text: string): string {
  return text.replaceAll(/\b\d+[dhms](\d+s)?\b/g, 'AGE').replaceAll(/ {2,}/g, ' ');
}

import type { KubeClient } from '#shared/kube/client/client.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { systemClock } from '#shared/runtime/clock.ts';
import { at, textAt } from '#test/contract/harness.ts';
import { letTimePass } from '#test/build/waiting.ts';
import { specOf } from '#test/build/wild/eviction-laws.ts';
import { wildCluster } from '#test/build/wild/wild-cluster.ts';
import { MANAGED, NAMESPACES } from '#test/build/wild/wild-settings.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import type { TimedLine } from './wild-history.ts';

const PACE_MS = 700;
const MAX_PODS = 90;
/** So long each team in turn creates no pods: others take its part, and give it back when it comes again. */
const AWAY_TURNS = 50;
const FIELDS = [
  'schedulingGates',
  'overhead',
  'runtimeClassName',
  'priority',
  'resourceClaims',
  'volumes',
  'nodeName',
  'preemptionPolicy',
];

/** How often the API server took and refused what was asked. */
export interface WildAnswers {
  taken: number;
  refused: number;
}

/** Creates and removes wild pods, and changes nodes and budgets, until `signal` aborts. */
export async function wildLoad(client: KubeClient, seed: number, signal: AbortSignal): Promise<WildAnswers> {
  const random = randomSource(seed);
  const answers: WildAnswers = { taken: 0, refused: 0 };
  const ask = async (method: 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<void> => {
    const contentType = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const { kind } = await client.request({ method, path, contentType, ...(body && { body }) });
    answers[kind === 'ok' ? 'taken' : 'refused'] += 1;
  };
  for (let turn = 0; !signal.aborted; turn += 1) {
    const cluster = wildCluster(seed + turn);
    const away = MANAGED[Math.floor(turn / AWAY_TURNS) % MANAGED.length];
    const coming = cluster.pods.filter(({ metadata }) => metadata.namespace !== away);
    for (const pod of coming.slice(0, 3)) {
      const made = creatable(pod, `w-${turn}-${textAt(pod, 'metadata.name')}`, random.chance(0.05));
      await ask('POST', `/api/v1/namespaces/${textAt(pod, 'metadata.namespace')}/pods`, made);
    }
    for (const [method, path, body] of changes(random, cluster.budgets)) await ask(method, path, body);
    await removeSome(client, ask);
    await letTimePass(PACE_MS, 'load', signal);
  }
  return answers;
}

type Change = readonly ['POST' | 'PATCH' | 'DELETE', string, object?];

/** Nodes are closed and opened again, and say what they do not have; budgets come and go. */
function changes(random: ReturnType<typeof randomSource>, budgets: readonly KubeObject[]): readonly Change[] {
  const node = `/api/v1/nodes/node-${random.below(4)}`;
  const made = budgets.slice(0, 1).map((budget): Change => {
    const path = `/apis/policy/v1/namespaces/${budget.metadata.namespace}/poddisruptionbudgets`;
    return ['POST', path, { ...budget, metadata: { name: budget.metadata.name }, status: undefined }];
  });
  const dropped: Change = ['DELETE', `/apis/policy/v1/namespaces/${random.pick(NAMESPACES)}/poddisruptionbudgets`];
  const lie = { allocatable: random.pick([{ cpu: '100k' }, { cpu: '8' }, { cpu: '8' }]) };
  return [
    ...(random.chance(0.1) ? [['PATCH', node, { spec: { unschedulable: random.chance(0.15) } }] as Change] : []),
    ...(random.chance(0.05) ? [['PATCH', `${node}/status`, { status: lie }] as Change] : []),
    ...(random.chance(0.1) ? made : []),
    ...(random.chance(0.1) ? [dropped] : []),
  ];
}

const OURS = ['plimsoll.dev/admitted', 'kubernetes.io/config.mirror'];

/** As a tenant would create it: without what Kubernetes and Plimsoll write. A few name a node themselves. */
function creatable(pod: KubeObject, name: string, isBoundByHand: boolean): object {
  const { containers, priorityClassName, ...spec } = without(specOf(pod), FIELDS);
  const idle = (containers as readonly object[]).map((each) => ({ ...each, image: 'registry.test/idle:1' }));
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, labels: pod.metadata.labels, annotations: without(pod.metadata.annotations ?? {}, OURS) },
    spec: {
      ...spec,
      containers: idle,
      terminationGracePeriodSeconds: 5,
      ...(priorityClassName !== undefined && priorityClassName !== 'absent' && { priorityClassName }),
      ...(isBoundByHand && { nodeName: 'no-such-node' }),
    },
  };
}

function without(
  fields: Readonly<Record<string, unknown>>,
  left: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !left.includes(field)));
}

async function removeSome(client: KubeClient, ask: (method: 'DELETE', path: string) => Promise<void>): Promise<void> {
  const listed = await client.request({ path: '/api/v1/pods' });
  const pods = ((at(listed, 'object.items') ?? []) as readonly unknown[]).filter((pod) =>
    textAt(pod, 'metadata.name').startsWith('w-'),
  );
  for (const pod of pods.slice(MAX_PODS).concat(pods.slice(0, 1).filter(() => pods.length > MAX_PODS / 2)))
    await ask('DELETE', `/api/v1/namespaces/${textAt(pod, 'metadata.namespace')}/pods/${textAt(pod, 'metadata.name')}`);
}

const PERIOD_MS = 1_000;

/** Says of pods on nodes that they run, as kubelets would, until `signal` aborts. */
export async function runBoundPods(client: KubeClient, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const listed = await client.request({ path: '/api/v1/pods', query: { fieldSelector: 'status.phase=Pending' } });
    for (const pod of (at(listed, 'object.items') ?? []) as readonly unknown[]) {
      const node = at(pod, 'spec.nodeName');
      if (typeof node !== 'string' || node === 'no-such-node') continue;
      const path = `/api/v1/namespaces/${textAt(pod, 'metadata.namespace')}/pods/${textAt(pod, 'metadata.name')}/status`;
      const conditions = [{ type: 'Ready', status: 'True' }];
      const body = { status: { phase: 'Running', startTime: new Date().toISOString(), conditions } };
      await client.request({ method: 'PATCH', path, contentType: 'application/strategic-merge-patch+json', body });
    }
    await letTimePass(PERIOD_MS, 'double', signal);
  }
}

/** Notes each change of a pod, until `signal` aborts. By lists: after a restart of the API server a watch would begin anew. */
export async function notePods(client: KubeClient, lines: TimedLine[], signal: AbortSignal): Promise<void> {
  const known = new Map<string, TimedLine['object']>();
  while (!signal.aborted) {
    const listed = await client.request({ path: '/api/v1/pods' });
    const items = at(listed, 'object.items') as readonly TimedLine['object'][] | undefined;
    if (items !== undefined) lines.push(...changesIn(items, known));
    await letTimePass(PERIOD_MS / 2, 'double', signal);
  }
}

function changesIn(
  items: readonly TimedLine['object'][],
  known: Map<string, TimedLine['object']>,
): readonly TimedLine[] {
  const now = systemClock.now();
  const uids = new Set(items.map((pod) => textAt(pod, 'metadata.uid')));
  const gone = [...known].filter(([uid]) => !uids.has(uid));
  for (const [uid] of gone) known.delete(uid);
  const changed = items.filter((pod) => versionOf(known.get(textAt(pod, 'metadata.uid'))) !== versionOf(pod));
  for (const pod of changed) known.set(textAt(pod, 'metadata.uid'), pod);
  return [
    ...gone.map(([, object]) => ({ type: 'DELETED', object, at: now })),
    ...changed.map((object) => ({ type: 'MODIFIED', object, at: now })),
  ];
}

function versionOf(pod: unknown): unknown {
  return at(pod, 'metadata.resourceVersion');
}

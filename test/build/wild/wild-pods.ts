import { encodeAdmitted } from '#shared/api/admitted.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import type { RandomSource } from '#test/fakes/random-source.ts';
import { ABSENT_NODES, DEDICATED } from './wild-nodes.ts';
import { oneOf, sometimes, fieldsIf } from './choices.ts';
import { MANAGED, NAMESPACES, PRIORITIES } from './wild-settings.ts';

/** Pods as people have them, in every state in which they are found, and with whatever their owners write on them. */

export const NOW_MS = Date.parse('2026-03-01T12:00:00Z');
const GATE = 'plimsoll.dev/queue';

const REQUESTS = [
  { cpu: '1', memory: '1Gi' },
  { cpu: '1', memory: '1Gi' },
  { cpu: '500m', memory: '256Mi' },
  { cpu: '2', memory: '512Mi' },
  { cpu: '1m' },
  { memory: '1m' },
  { cpu: '9', memory: '1Gi' },
  { cpu: '1', 'nvidia.com/gpu': '1' },
  { cpu: '1e1', memory: '1e9' },
  { cpu: '9007199254740993', memory: '9223372036854775807' },
  { 'vendor.example/absent': '1' },
  { cpu: '0', memory: '0' },
  undefined,
] as const;

/** Opt-outs of all projects, and annotations whose value has not the form that their readers expect. */
const ANNOTATIONS: readonly Readonly<Record<string, string>>[] = [
  { 'plimsoll.dev/evict': 'never' },
  { 'plimsoll.dev/evict': 'last' },
  { 'plimsoll.dev/evict': '1' },
  { 'plimsoll.dev/allow-preemption': 'false' },
  { 'yunikorn.apache.org/allow-preemption': 'false' },
  { 'descheduler.alpha.kubernetes.io/prefer-no-eviction': '' },
  { 'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false' },
  { 'karpenter.sh/do-not-disrupt': 'true' },
  { 'kubernetes.io/config.source': 'file' },
  { 'kubernetes.io/config.mirror': 'hash' },
  { 'plimsoll.dev/admitted': '[]' },
  { 'plimsoll.dev/admitted': '{"queue":{"name":"team-a"},"at":"yesterday"}' },
  { 'plimsoll.dev/admitted': '{"queue":"team-b","at":"9999-12-31T23:59:59Z","against":1e300}' },
  { 'plimsoll.dev/admitted': '{"queue":"absent","application":"","at":-1}' },
];

type Where = 'bound' | 'gated' | 'letIn';

interface Frame {
  readonly random: RandomSource;
  readonly index: number;
  readonly nodes: readonly string[];
  readonly namespaces: readonly string[];
  readonly owners: readonly WildOwner[];
  readonly wildness: number;
}

/** The tamer clusters have few owners, so that these have several pods. */
export function wildPods(random: RandomSource, nodes: readonly string[], wildness: number): readonly KubeObject[] {
  const isNarrow = wildness < 1;
  const namespaces = isNarrow
    ? [...random.shuffled(MANAGED).slice(0, 2), random.pick(NAMESPACES)]
    : [...NAMESPACES, 'not-listed'];
  const owners = isNarrow ? [OWNERS[0] as WildOwner, random.pick(OWNERS)] : OWNERS;
  const frame = { random, nodes, namespaces, owners, wildness };
  return Array.from({ length: random.below(30) }, (_, index) => wildPod({ ...frame, index }));
}

/** Something out of the ordinary, as often as the cluster is wild, else the usual. */
function wildOr<T, U>({ random, wildness }: Frame, wild: readonly T[], usual: U): T | U {
  return random.chance(wildness) ? oneOf(random, wild) : usual;
}

function wildPod(frame: Frame): KubeObject {
  const { random } = frame;
  const namespace = random.pick(random.chance(0.6) ? frame.namespaces.slice(0, 2) : frame.namespaces);
  const where: Where = random.chance(0.6) ? 'bound' : random.pick(['gated', 'letIn']);
  const owner = ownerIn(frame);
  const node = where === 'bound' ? nodeOf(frame) : undefined;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: metadataOf(frame, { namespace, owner, where, node }),
    spec: specOf(frame, { where, owner, node }),
    status: statusOf(frame, where),
  };
}

/** Some are bound by hand, or were left by a node that is gone. */
function nodeOf({ random, nodes, wildness }: Frame): string {
  const first = Math.min(random.below(nodes.length), random.below(nodes.length));
  return random.chance(0.08 * wildness) ? random.pick(ABSENT_NODES) : (nodes[first] ?? '');
}

interface WildOwner {
  readonly kind: string;
  readonly apiVersion: string;
  readonly name: string;
}

const OWNERS: readonly WildOwner[] = [
  ...['app-0', 'app-1-a1', 'app-1-b2'].map((name) => ({ apiVersion: 'apps/v1', kind: 'ReplicaSet', name })),
  { apiVersion: 'apps/v1', kind: 'StatefulSet', name: 'app-1' },
  { apiVersion: 'apps/v1', kind: 'DaemonSet', name: 'log' },
  { apiVersion: 'batch/v1', kind: 'Job', name: 'job' },
  { apiVersion: 'kubevirt.io/v1', kind: 'VirtualMachineInstance', name: 'vm' },
  { apiVersion: 'v1', kind: 'Node', name: 'n0' },
  { apiVersion: 'vendor.example/v1', kind: 'Thing', name: 'x'.repeat(253) },
];

function ownerIn({ random, owners }: Frame): WildOwner | undefined {
  return random.chance(0.1) ? undefined : random.pick(owners);
}

interface Placement {
  readonly namespace: string;
  readonly owner: WildOwner | undefined;
  readonly where: Where;
  readonly node: string | undefined;
}

function metadataOf(frame: Frame, { namespace, owner, where, node }: Placement): KubeObject['metadata'] {
  const { random, index } = frame;
  const isLetIn = where === 'letIn' || (where === 'bound' && random.chance(1 - 0.4 * frame.wildness));
  const annotations = {
    ...fieldsIf(isLetIn, { 'plimsoll.dev/admitted': markOf(frame, namespace) }),
    ...sometimes(random, 0.3 * frame.wildness, random.pick(ANNOTATIONS)),
    ...(owner?.kind === 'Node' && owner.name === node && { 'kubernetes.io/config.mirror': 'hash' }),
  };
  return {
    namespace,
    name: `p${index}`,
    uid: `uid-p${index}`,
    resourceVersion: `${index + 1}`,
    creationTimestamp: before(random.pick([5, 60, 400, 90_000])),
    labels: labelsOf(frame, owner),
    annotations,
    ...(owner !== undefined && {
      ownerReferences: [{ ...owner, uid: `uid-${owner.kind}-${owner.name}`, controller: true }],
    }),
    ...sometimes(random, 0.12 * frame.wildness, deletionOf(random)),
  };
}

/** Those of a Deployment have its revision. */
function labelsOf({ random }: Frame, owner: WildOwner | undefined): Readonly<Record<string, string>> {
  const [, revision] = /-(a1|b2)$/.exec(owner?.name ?? '') ?? [];
  return {
    app: owner?.name.slice(0, 5) ?? 'none',
    ...(revision !== undefined && { 'pod-template-hash': revision }),
    ...sometimes(random, 0.1, queueLabel(random)),
  };
}

function queueLabel(random: RandomSource): Readonly<Record<string, string>> {
  return { 'plimsoll.dev/queue': random.pick(['team-a', 'research', 'absent', 'root', '']) };
}

function markOf({ random, wildness }: Frame, namespace: string): string {
  const queue = random.chance(1 - 0.1 * wildness) ? namespace : random.pick(['research', 'absent', 'root']);
  return encodeAdmitted({
    queue,
    application: random.pick(['app', 'other']),
    mayPreempt: random.chance(0.5),
    mayBePreempted: random.chance(0.7),
    at: NOW_MS - random.pick([10, 200, 400, 7_200]) * 1_000,
    decision: 'd1',
  });
}

/** Within the grace period, past it, and long past it. */
function deletionOf(random: RandomSource): object {
  const grace = random.pick([0, 30, 30, 3_600, 9_000_000]);
  const at = NOW_MS + random.pick([20, -10, -100, -7_200]) * 1_000;
  return { deletionTimestamp: new Date(at).toISOString(), deletionGracePeriodSeconds: grace };
}

interface SpecFacts {
  readonly where: Where;
  readonly owner: WildOwner | undefined;
  readonly node: string | undefined;
}

function specOf(frame: Frame, { where, owner, node }: SpecFacts): object {
  const { random, nodes } = frame;
  const requests = wildOr(frame, REQUESTS, { cpu: '1', memory: '1Gi' });
  const gates = [
    ...(where === 'gated' ? [GATE] : []),
    ...(node === undefined && random.chance(0.1) ? ['vendor.example/gate'] : []),
  ];
  const restartPolicy = owner?.kind === 'Job' ? random.pick(['Never', 'OnFailure']) : 'Always';
  return {
    ...fieldsIf(node !== undefined, { nodeName: node }),
    ...fieldsIf(gates.length > 0, { schedulingGates: gates.map((name) => ({ name })) }),
    containers: [
      { name: 'main', ...fieldsIf(requests !== undefined, { resources: { requests } }) },
      ...(random.chance(0.1) ? [{ name: 'side', resources: { requests: { cpu: '100m' } } }] : []),
    ],
    ...sometimes(random, 0.08, { overhead: { cpu: '250m', memory: '160Mi' }, runtimeClassName: 'kata' }),
    priority: wildOr(frame, PRIORITIES, random.pick([0, 0, 10])),
    ...sometimes(random, 0.2, { priorityClassName: random.pick(['class-0', 'class-1', 'class-2', 'absent']) }),
    ...sometimes(random, 0.1, { preemptionPolicy: 'Never' }),
    terminationGracePeriodSeconds: random.pick([30, 30, 30, 0, 3_600]),
    restartPolicy,
    ...placementRules(random, { nodes, owner, node }),
    ...storageOf(frame),
  };
}

function placementRules(
  random: RandomSource,
  { nodes, owner, node }: Omit<SpecFacts, 'where'> & Pick<Frame, 'nodes'>,
): object {
  const isOfDaemonSet = owner?.kind === 'DaemonSet';
  const tolerations = [
    ...(random.chance(0.15) ? [DEDICATED] : []),
    ...(isOfDaemonSet || random.chance(0.05) ? [{ operator: 'Exists' }] : []),
  ];
  const tied = {
    nodeSelectorTerms: [
      { matchFields: [{ key: 'metadata.name', operator: 'In', values: [node ?? random.pick(nodes)] }] },
    ],
  };
  const apart = { labelSelector: { matchLabels: { app: 'app-0' } }, topologyKey: 'kubernetes.io/hostname' };
  const required = 'requiredDuringSchedulingIgnoredDuringExecution';
  return {
    ...fieldsIf(tolerations.length > 0, { tolerations }),
    ...sometimes(random, 0.08, { nodeSelector: { pool: 'ml' } }),
    ...fieldsIf(isOfDaemonSet, { affinity: { nodeAffinity: { [required]: tied } } }),
    ...(!isOfDaemonSet && random.chance(0.08) && { affinity: { podAntiAffinity: { [required]: [apart] } } }),
  };
}

function storageOf({ random, wildness }: Frame): object {
  const kind = random.chance(wildness) ? random.below(24) : 23;
  const volumes = [
    ...(kind === 0 ? [{ name: 'data', persistentVolumeClaim: { claimName: 'rwop' } }] : []),
    ...(kind === 1 ? [{ name: 'cache', emptyDir: { medium: 'Memory', sizeLimit: '1Gi' } }] : []),
    ...(kind === 2 ? [{ name: 'host', hostPath: { path: '/var/log' } }] : []),
  ];
  return {
    ...fieldsIf(volumes.length > 0, { volumes }),
    ...fieldsIf(kind === 3, { resourceClaims: [{ name: 'gpu', resourceClaimName: 'shared-gpu' }] }),
  };
}

const UNSCHEDULABLE = { type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/3 nodes' };
const READY = { type: 'Ready', status: 'True' };
const DISRUPTED = { type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' };

function statusOf(frame: Frame, where: Where): object {
  const { random } = frame;
  if (where !== 'bound') return waitingStatus(frame);
  const wild = [...Array.from({ length: 8 }, () => 'Running'), 'Pending', 'Unknown', 'Failed', 'Succeeded'];
  const phase = wildOr(frame, wild, 'Running');
  const isCrashing = random.chance(0.1 * frame.wildness);
  return {
    phase,
    ...sometimes(random, 0.9, { startTime: before(wildOr(frame, [1, 100, 1_000, 90_000], 5_000)) }),
    conditions: [...(isCrashing || phase !== 'Running' ? [] : [READY]), ...(random.chance(0.05) ? [DISRUPTED] : [])],
    ...(phase === 'Failed' && random.chance(0.5) && { reason: 'OutOfcpu' }),
    containerStatuses: [{ name: 'main', restartCount: isCrashing ? 40 : 0, ...resized(frame) }],
  };
}

function waitingStatus({ random, nodes }: Frame): object {
  const isNominated = random.chance(0.1);
  return {
    phase: 'Pending',
    ...sometimes(random, 0.5, { conditions: [UNSCHEDULABLE] }),
    ...fieldsIf(isNominated, { nominatedNodeName: random.pick([...nodes, ...ABSENT_NODES]) }),
  };
}

/** A resize that the kubelet has not made, or has made in part. */
function resized({ random, wildness }: Frame): object {
  if (!random.chance(0.1 * wildness)) return {};
  return {
    allocatedResources: { cpu: random.pick(['3', '-1', '9223372036854775807']), memory: '1Gi' },
    resources: {
      requests: { cpu: random.pick(['3', '1m', '100', '-5']), memory: random.pick(['1Gi', '-1Gi', '1e30']) },
    },
  };
}

function before(seconds: number): string {
  return new Date(NOW_MS - seconds * 1_000).toISOString();
}

import { type BytePace, createBytePace, PROMPT_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { createReflector, type Reflector, type ReflectorOptions } from '#shared/kube/reflector/reflector.ts';
import { CONFIG_MIRROR, isMirrorOfNode, CONFIG_SOURCE } from '#shared/domain/eviction/protection.ts';
import { NODE_POD } from '#shared/kube/protobuf/node-pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { fieldOf, isRecord, itemsOf } from '#shared/kube/decode/wire-object.ts';
import { isOfGang } from '#shared/kube/annotations/gangs.ts';
import { PODS } from '#shared/kube/resource.ts';
import type { Pod, Container, SchedulingRules } from '#shared/domain/pod/pod.ts';
import { podRequests, type QosClass, qosClass, reportedQosClass } from '#shared/domain/pod/pod-requests.ts';
import { rankingFacts, type RankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { ObservedPod } from '#agent/observe/node/node-source.ts';
import { type KubeletEviction, DISRUPTION_TARGET } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import { errorText } from '#shared/runtime/describe-error.ts';
import { LOG } from '#agent/messages.ts';
import { isLocal } from '#shared/domain/ranking/pod-usage.ts';
import { filterAmounts, NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import { SPARE_RESOURCES } from '#shared/domain/spare/spare-resources.ts';
import { BASIC_RESOURCES } from '#shared/domain/quantity/resource-columns.ts';
import { SECOND_MS } from '#shared/domain/base/durations.ts';
import { FOREIGN_EVICTION_IN_PROGRESS } from '#shared/kube/api-names.ts';
import { WISH_ANNOTATIONS } from '#shared/kube/annotations/wishes.ts';
import { asAllocated } from '#shared/domain/pod/pod-resize.ts';

/** A pod of this node: the facts for its ranking, and where its statistics are. */
export interface NodePod {
  readonly facts: RankingFacts;
  readonly observed: ObservedPod;
}

/**
 * What the agent keeps of a pod bound to this node. For a terminated pod this is only that the kubelet evicted it; for
 * a pod that cannot be decoded, the error.
 */
export type KnownPod =
  | ({ readonly kind: 'alive' } & NodePod)
  | ({ readonly kind: 'endedByKubelet' } & KubeletEviction)
  | { readonly kind: 'unreadable'; readonly message: string };

type PodReflectorOptions = Omit<ReflectorOptions<KnownPod>, 'resource' | 'fieldSelector' | 'slim'>;

/**
 * Limits the rate of reading. Tenants decide how large the pods of a node are and how often they change. Above this
 * rate, changes arrive late, and known pods stay candidates. Reading costs some 5 ms of CPU per MiB.
 */
const PACE: BytePace = { perSecond: 8 * 1024 * 1024, burst: 32 * 1024 * 1024 };
const KNOWN: readonly string[] = ['Guaranteed', 'Burstable', 'BestEffort'];

function cgroupQos(pod: Pod): QosClass {
  const reported = reportedQosClass(pod);
  return KNOWN.includes(reported) ? (reported as QosClass) : qosClass(pod);
}

/**
 * A static pod's cgroup is named after the hash of its manifest; the UID in the API server is that of the mirror pod.
 * On any other pod the annotation is user text and could name another pod's cgroup.
 */
function cgroupUidOf(pod: Pod): string {
  const hash = isMirrorOfNode(pod) ? pod.annotations.get(CONFIG_MIRROR) : undefined;
  return hash ?? pod.uid;
}

/** `containerd://ID` of each container status, including init containers, since sidecars are among them. */
function containersOf({ status }: KubeObject): ObservedPod['containers'] {
  if (!isRecord(status)) return [];
  const statuses = [status['containerStatuses'], status['initContainerStatuses']].filter(Array.isArray).flat();
  return statuses.filter(isRecord).flatMap(({ name, containerID }) => {
    const id = typeof containerID === 'string' ? containerID.split('://')[1] : undefined;
    return typeof name === 'string' && id !== undefined && isPathSegment(id) ? [{ name, id }] : [];
  });
}

/** Ids become part of a path below the cgroup root. */
function isPathSegment(text: string): boolean {
  return /^[A-Za-z0-9_-]{1,253}$/.test(text);
}

/**
 * What the agent keeps of a pod that has not terminated. Throws if the pod cannot be decoded; other pods are not
 * affected.
 */
export function slimPod(raw: KubeObject): NodePod {
  const decoded = decodePod(raw);
  if (!decoded.ok)
    throw new Error(`cannot read pod "${raw.metadata.name ?? ''}": ${decoded.field}: ${decoded.message}`);
  const pod = decoded.value;
  const cgroupUid = cgroupUidOf(pod);
  if (!isPathSegment(cgroupUid)) throw new Error(`cannot read pod "${pod.name}": its UID is not a valid cgroup name`);
  return {
    facts: { ...rankingFacts(pod), pod: podEssentials(pod), ...(isOfGang(pod) && { isOfGang: true }) },
    observed: {
      uid: pod.uid,
      cgroup: { uid: cgroupUid, qos: cgroupQos(pod) },
      isRunning: pod.status.phase === 'Running',
      containers: containersOf(raw),
    },
  };
}

/**
 * What the agent keeps of a pod. `undefined` for a terminated pod, which has no cgroup and is no candidate: a node may
 * hold 12,500 of them (the terminated-pod threshold of the controller manager).
 */
export function slimKnownPod(raw: KubeObject): KnownPod | undefined {
  try {
    if (!hasEnded(raw)) return { kind: 'alive', ...slimPod(raw) };
    const resource = resourceOfEviction(raw);
    return resource && { kind: 'endedByKubelet', uid: raw.metadata.uid ?? '', resource, ...endedAt(raw) };
  } catch (error) {
    return { kind: 'unreadable', message: errorText(error) };
  }
}

function hasEnded({ status }: KubeObject): boolean {
  return isRecord(status) && (status['phase'] === 'Succeeded' || status['phase'] === 'Failed');
}

const LOW_ON = /^The node was low on resource: ([a-z-]{1,32})\./;
const EVICTABLE: readonly StarvedResource[] = ['memory', 'ephemeral-storage', 'inodes', 'pids'];

/**
 * The resource that was short when the kubelet evicted the pod (`nodeLowMessageFmt` in
 * `pkg/kubelet/eviction/helpers.go`). The kubelet also writes the condition if it preempts a pod for a critical one, if
 * the node shuts down, and if a pod exceeds a limit of its own; only the message tells them apart. If the containers
 * exit successfully, the pod has succeeded, and its status says nothing.
 */
function resourceOfEviction({ status }: KubeObject): StarvedResource | undefined {
  const byKubelet = itemsOf(fieldOf(status, 'conditions')).find(
    (each) => fieldOf(each, 'type') === 'DisruptionTarget' && fieldOf(each, 'reason') === 'TerminationByKubelet',
  );
  const evicted = fieldOf(status, 'reason') === 'Evicted' ? status : byKubelet;
  const message = fieldOf(evicted, 'message');
  const named = typeof message === 'string' ? LOW_ON.exec(message)?.[1] : undefined;
  return EVICTABLE.find((each) => each === named);
}

/**
 * When the last container ended, if all have: after a stall of the watch, or a start of the agent, that is long ago. The
 * condition has the time at which the kubelet began. Times of the API are whole seconds.
 */
function endedAt({ status }: KubeObject): Pick<KubeletEviction, 'at'> {
  const times = itemsOf(fieldOf(status, 'containerStatuses')).map((each) =>
    Date.parse(String(fieldOf(fieldOf(fieldOf(each, 'state'), 'terminated'), 'finishedAt'))),
  );
  const at = Math.max(...times) + SECOND_MS;
  return Number.isFinite(at) ? { at } : {};
}

/** The pods bound to this node, watched. */
export interface NodePods extends Pick<Reflector<KnownPod>, 'run' | 'isSynced' | 'lastContactMs'> {
  /** Pods that have not terminated. */
  readonly alive: () => readonly NodePod[];
  readonly endedByKubelet: () => readonly KubeletEviction[];
  /** Errors of pods that cannot be read and are therefore no candidates, one sentence each. */
  readonly unreadable: () => readonly string[];
  readonly onChange: (listener: () => void) => void;
}

/** A watched copy of what is kept of this node's pods. */
export function createNodePods(nodeName: string, options: PodReflectorOptions): NodePods {
  const reflector = createReflector({
    ...options,
    resource: PODS,
    startsFromCache: true,
    fieldSelector: `spec.nodeName=${nodeName}`,
    slim: slimKnownPod,
    message: NODE_POD,
    spendBytes: createBytePace(PACE, options.clock),
    backoff: PROMPT_BACKOFF,
  });
  reflector.onChange(({ kind, value }) => {
    if (kind !== 'deleted' && value.kind === 'unreadable')
      options.log.warn({ cause: value.message }, LOG.podUnreadable);
  });
  return {
    run: (signal) => reflector.run(signal),
    isSynced: () => reflector.isSynced(),
    lastContactMs: () => reflector.lastContactMs(),
    alive: () => valuesOf(reflector, 'alive'),
    endedByKubelet: () => valuesOf(reflector, 'endedByKubelet'),
    unreadable: () => valuesOf(reflector, 'unreadable').map(({ message }) => message),
    onChange: (listener) => void reflector.onChange(listener),
  };
}

type OfKind<K extends KnownPod['kind']> = Extract<KnownPod, { readonly kind: K }>;

function valuesOf<K extends KnownPod['kind']>(
  reflector: Pick<Reflector<KnownPod>, 'values'>,
  kind: K,
): readonly OfKind<K>[] {
  const isOfKind = (pod: KnownPod): pod is OfKind<K> => pod.kind === kind;
  return [...reflector.values()].filter(isOfKind);
}

/** Annotations that the agent reads. A tenant may write thousands of others, which would fill the agent's memory. */
const READ_ANNOTATIONS: readonly string[] = [
  ...WISH_ANNOTATIONS,
  FOREIGN_EVICTION_IN_PROGRESS,
  CONFIG_MIRROR,
  CONFIG_SOURCE,
];
/** The values are a word or a hash; longer ones are user data. */
const MAX_VALUE_LENGTH = 256;
/** Per pod; the API server does not limit either. */
const MAX_CONTAINERS = 100;
const MAX_VOLUMES = 1_000;
const SPARE_NAMES = Object.values(SPARE_RESOURCES);
const NO_TEXTS: ReadonlyMap<string, string> = new Map();
const NO_RULES: SchedulingRules = {
  nodeSelector: NO_TEXTS,
  tolerations: [],
  nodeAffinity: undefined,
  podAffinity: [],
  podAntiAffinity: [],
  preferredPodTerms: [],
  preferredNodeTerms: [],
  topologySpread: [],
};

/**
 * The part of a pod that decisions and messages need once its ranking facts are computed. Labels, scheduling rules,
 * limits and other conditions are dropped: for 500 real pods they take 3 MiB on every node. So are containers beyond a
 * hundred, which messages would name, and volumes that are not on the node's disk or beyond a thousand. What all containers
 * request of spare room is kept with the first: the node must never offer less.
 */
function podEssentials(pod: Pod): Pod {
  const { spec, status } = asAllocated(pod);
  const spare = filterAmounts(podRequests(pod), (each) => SPARE_NAMES.includes(each));
  return {
    ...pod,
    labels: NO_TEXTS,
    annotations: withoutData(pod.annotations),
    spec: {
      ...spec,
      containers: spec.containers
        .slice(0, MAX_CONTAINERS)
        .map((each, index) => requestsOf(each, index === 0 ? spare : NO_AMOUNTS)),
      initContainers: spec.initContainers.slice(0, MAX_CONTAINERS).map((each) => requestsOf(each)),
      volumes: spec.volumes.filter(isLocal).slice(0, MAX_VOLUMES),
      scheduling: NO_RULES,
    },
    status: {
      ...status,
      conditions: status.conditions.filter(({ type }) => type === DISRUPTION_TARGET),
      containers: [],
      initContainers: [],
    },
  };
}

/** A key stays even if its value is too long to be valid, because for some annotations the presence counts. */
function withoutData(annotations: Pod['annotations']): Pod['annotations'] {
  const read = Array.from(annotations).filter(([key]) => READ_ANNOTATIONS.includes(key));
  const short = read.map(([key, value]) => [key, value.length > MAX_VALUE_LENGTH ? '' : value] as const);
  return short.length === 0 ? NO_TEXTS : new Map(short);
}

/** Only the resources that evictions compare with a container's usage; what the pod requests of spare room besides. */
function requestsOf({ name, resources, restartPolicy }: Container, spare = NO_AMOUNTS): Container {
  const own = resources.requests && filterAmounts(resources.requests, (each) => BASIC_RESOURCES.includes(each));
  const requests = spare.size === 0 ? own : new Map([...(own ?? NO_AMOUNTS), ...spare]);
  return { name, resources: { requests, limits: undefined }, restartPolicy, ports: [] };
}

import type {
  Container,
  ContainerStatus,
  Deletion,
  Owner,
  Pod,
  PodCondition,
  PodSpec,
  PodStatus,
  Resources,
  Volume,
  NodeAffinity,
  NodeSelectorTerm,
  PodAffinityTerm,
  SchedulingRules,
  Toleration,
  TopologySpreadConstraint,
  WeightedNodeTerm,
} from '#shared/domain/pod/pod.ts';
import { NO_AMOUNTS } from '#shared/domain/quantity/quantity.ts';
import {
  type Decoded,
  decodeObject,
  readAmounts,
  readBoolean,
  readClippedPointerText,
  readClippedText,
  readInstant,
  readInt32,
  readInteger,
  readList,
  readObject,
  readPart,
  readTextMap,
  type WireObject,
  readTexts,
} from './wire-object.ts';
import { podArithmetic } from './pod-arithmetic.ts';
import { readSelector, readRequirement } from './decode-objects.ts';

const NO_RESOURCES: Resources = { requests: undefined, limits: undefined };
const NO_PORTS: Container['ports'] = [];

/**
 * Decodes the wire form of a `v1` Pod. Unknown fields are ignored, absent ones are `undefined` or empty. No text is too
 * long: the API server stores owners, reasons and amounts of any length, and such a pod must stay readable.
 */
export function decodePod(raw: unknown): Decoded<Pod> {
  return decodeObject(raw, readPod);
}

/** The fields of a pod; absent ones are empty. */
export function readPod(object: WireObject): Pod {
  const identity = readPart(object, 'metadata', readMetadata);
  return {
    ...identity,
    spec: readPart(object, 'spec', readSpec),
    status: readPart(object, 'status', readStatus),
    arithmetic: podArithmetic(),
  };
}

function readMetadata(metadata: WireObject): Omit<Pod, 'spec' | 'status'> {
  return {
    namespace: readClippedText(metadata, 'namespace') ?? '',
    name: readClippedText(metadata, 'name') ?? '',
    generateName: readClippedText(metadata, 'generateName'),
    uid: readClippedText(metadata, 'uid') ?? '',
    resourceVersion: readClippedText(metadata, 'resourceVersion'),
    labels: readTextMap(metadata, 'labels'),
    annotations: readTextMap(metadata, 'annotations'),
    owners: readList(metadata, 'ownerReferences', readOwner),
    createdAt: readInstant(metadata, 'creationTimestamp'),
    deletion: readDeletion(metadata),
  };
}

function readOwner(owner: WireObject): Owner {
  return {
    apiVersion: readClippedText(owner, 'apiVersion') ?? '',
    kind: readClippedText(owner, 'kind') ?? '',
    name: readClippedText(owner, 'name') ?? '',
    uid: readClippedText(owner, 'uid') ?? '',
    isController: readBoolean(owner, 'controller'),
  };
}

function readDeletion(metadata: WireObject): Deletion | undefined {
  const at = readInstant(metadata, 'deletionTimestamp');
  return at === undefined ? undefined : { at, gracePeriodSeconds: readInteger(metadata, 'deletionGracePeriodSeconds') };
}

function readSpec(spec: WireObject): PodSpec {
  return {
    nodeName: readClippedText(spec, 'nodeName'),
    priorityClassName: readClippedText(spec, 'priorityClassName'),
    priority: readInt32(spec, 'priority'),
    preemptionPolicy: readClippedPointerText(spec, 'preemptionPolicy'),
    containers: readList(spec, 'containers', readContainer),
    initContainers: readList(spec, 'initContainers', readContainer),
    overhead: readAmounts(spec, 'overhead') ?? NO_AMOUNTS,
    resources: readObject(spec, 'resources', readResources),
    activeDeadlineSeconds: readInteger(spec, 'activeDeadlineSeconds'),
    terminationGracePeriodSeconds: readInteger(spec, 'terminationGracePeriodSeconds'),
    volumes: readList(spec, 'volumes', readVolume),
    resourceClaims: readList(spec, 'resourceClaims', (claim) => readClippedText(claim, 'name') ?? ''),
    hostNetwork: readBoolean(spec, 'hostNetwork'),
    restartPolicy: readRestartPolicy(spec),
    podGroup: readObject(spec, 'schedulingGroup', (group) => readClippedText(group, 'podGroupName')),
    scheduling: readScheduling(spec),
  };
}

function readRestartPolicy(spec: WireObject): string | undefined {
  const policy = readClippedText(spec, 'restartPolicy');
  return policy === 'Always' ? undefined : policy;
}

function readContainer(container: WireObject): Container {
  return {
    ...readChargedContainer(container),
    ports: readList(container, 'ports', (port) => ({
      hostPort: readInteger(port, 'hostPort') ?? 0,
      hostIP: readClippedText(port, 'hostIP') ?? '',
      protocol: readClippedText(port, 'protocol') ?? '',
    })),
  };
}

/** The fields of a container that quotas charge. */
export function readChargedContainer(container: WireObject): Container {
  return {
    name: readClippedText(container, 'name') ?? '',
    resources: readObject(container, 'resources', readResources) ?? NO_RESOURCES,
    restartPolicy: readClippedText(container, 'restartPolicy'),
    ports: NO_PORTS,
  };
}

/** Requests and limits. */
export function readResources(resources: WireObject): Resources {
  return { requests: readAmounts(resources, 'requests'), limits: readAmounts(resources, 'limits') };
}

function readVolume(volume: WireObject): Volume {
  const emptyDir = readObject(volume, 'emptyDir', (inner) => inner);
  return {
    name: readClippedText(volume, 'name') ?? '',
    source: Object.keys(volume).find((key) => key !== 'name' && volume[key] !== null) ?? '',
    emptyDirMedium: (emptyDir && readClippedText(emptyDir, 'medium')) ?? '',
    emptyDirSizeLimit: emptyDir && readClippedText(emptyDir, 'sizeLimit'),
  };
}

function readStatus(status: WireObject): PodStatus {
  return {
    phase: readClippedText(status, 'phase'),
    reason: readClippedText(status, 'reason'),
    qosClass: readClippedText(status, 'qosClass'),
    startTime: readInstant(status, 'startTime'),
    nominatedNodeName: readClippedText(status, 'nominatedNodeName'),
    conditions: readList(status, 'conditions', readCondition),
    ...readHeldResources(status, readEndedContainer),
  };
}

/** What a pod and its containers hold, by the kubelet. */
export function readHeldResources(status: WireObject, read = readContainerStatus) {
  return {
    containers: readList(status, 'containerStatuses', read),
    initContainers: readList(status, 'initContainerStatuses', read),
    resources: readObject(status, 'resources', readResources),
    allocatedResources: readAmounts(status, 'allocatedResources'),
  };
}

function readCondition(condition: WireObject): PodCondition {
  return {
    type: readClippedText(condition, 'type') ?? '',
    status: readClippedText(condition, 'status') ?? '',
    reason: readClippedText(condition, 'reason') ?? '',
  };
}

function readContainerStatus(status: WireObject): ContainerStatus {
  return {
    name: readClippedText(status, 'name') ?? '',
    restartCount: readInteger(status, 'restartCount') ?? 0,
    resources: readObject(status, 'resources', readResources),
    allocatedResources: readAmounts(status, 'allocatedResources'),
  };
}

function readEndedContainer(status: WireObject): ContainerStatus {
  const endReason = readEndReason(status, 'state') ?? readEndReason(status, 'lastState');
  return { ...readContainerStatus(status), endReason };
}

function readEndReason(status: WireObject, key: 'state' | 'lastState'): string | undefined {
  const terminated = readObject(status, key, (state) => readObject(state, 'terminated', (ended) => ended));
  return terminated && readClippedText(terminated, 'reason');
}

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const NO_AFFINITY: Affinity = {
  nodeAffinity: undefined,
  podAffinity: [],
  podAntiAffinity: [],
  preferredPodTerms: [],
  preferredNodeTerms: [],
};

/** Decodes the parts of a `v1` PodSpec that restrict where the pod may run. */
function readScheduling(spec: WireObject): SchedulingRules {
  return {
    nodeSelector: readTextMap(spec, 'nodeSelector'),
    tolerations: readList(spec, 'tolerations', readToleration),
    ...(readObject(spec, 'affinity', readAffinity) ?? NO_AFFINITY),
    topologySpread: readList(spec, 'topologySpreadConstraints', readSpreadConstraint),
  };
}

type Affinity = Omit<SchedulingRules, 'nodeSelector' | 'tolerations' | 'topologySpread'>;

function readAffinity(affinity: WireObject): Affinity {
  const near = readPart(affinity, 'podAffinity', readPodTerms);
  const apart = readPart(affinity, 'podAntiAffinity', readPodTerms);
  return {
    nodeAffinity: readObject(affinity, 'nodeAffinity', readNodeAffinity),
    podAffinity: near.required,
    podAntiAffinity: apart.required,
    preferredPodTerms: [...near.preferred, ...apart.preferred.map((term) => ({ ...term, weight: -term.weight }))],
    preferredNodeTerms: readPart(affinity, 'nodeAffinity', (node) => readList(node, PREFERRED, readWeightedNodeTerm)),
  };
}

function readNodeAffinity(affinity: WireObject): NodeAffinity | undefined {
  return readObject(affinity, REQUIRED, (required) => ({
    terms: readList(required, 'nodeSelectorTerms', readNodeSelectorTerm),
  }));
}

function readWeightedNodeTerm(preferred: WireObject): WeightedNodeTerm {
  return {
    weight: readInteger(preferred, 'weight') ?? 0,
    term: readPart(preferred, 'preference', readNodeSelectorTerm),
  };
}

function readNodeSelectorTerm(term: WireObject): NodeSelectorTerm {
  return {
    matchExpressions: readList(term, 'matchExpressions', readRequirement),
    matchFields: readList(term, 'matchFields', readRequirement),
  };
}

function readPodTerms(affinity: WireObject) {
  return {
    required: readList(affinity, REQUIRED, readPodTerm),
    preferred: readList(affinity, PREFERRED, (weighted) => ({
      ...readPart(weighted, 'podAffinityTerm', readPodTerm),
      weight: readInteger(weighted, 'weight') ?? 0,
    })),
  };
}

function readPodTerm(term: WireObject): PodAffinityTerm {
  return {
    topologyKey: readClippedText(term, 'topologyKey') ?? '',
    labelSelector: readSelector(term, 'labelSelector'),
    namespaces: readTexts(term, 'namespaces'),
    namespaceSelector: readSelector(term, 'namespaceSelector'),
    matchLabelKeys: readTexts(term, 'matchLabelKeys'),
    mismatchLabelKeys: readTexts(term, 'mismatchLabelKeys'),
  };
}

function readToleration(toleration: WireObject): Toleration {
  return {
    key: readClippedText(toleration, 'key') ?? '',
    operator: readClippedText(toleration, 'operator') ?? '',
    value: readClippedText(toleration, 'value') ?? '',
    effect: readClippedText(toleration, 'effect') ?? '',
  };
}

function readSpreadConstraint(constraint: WireObject): TopologySpreadConstraint {
  return {
    topologyKey: readClippedText(constraint, 'topologyKey') ?? '',
    maxSkew: readInteger(constraint, 'maxSkew') ?? 0,
    minDomains: readInteger(constraint, 'minDomains'),
    whenUnsatisfiable: readClippedText(constraint, 'whenUnsatisfiable') ?? '',
    labelSelector: readSelector(constraint, 'labelSelector'),
    matchLabelKeys: readTexts(constraint, 'matchLabelKeys'),
    nodeAffinityPolicy: readClippedText(constraint, 'nodeAffinityPolicy'),
    nodeTaintsPolicy: readClippedText(constraint, 'nodeTaintsPolicy'),
  };
}

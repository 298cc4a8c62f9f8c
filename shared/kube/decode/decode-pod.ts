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
} from './wire-object.ts';
import { readScheduling } from './decode-scheduling.ts';

const EMPTY: WireObject = {};
const NO_RESOURCES: Resources = { requests: undefined, limits: undefined };
const NO_PORTS: Container['ports'] = [];
const BARE_POD: Pod = readPod(EMPTY);

/**
 * Decodes the wire form of a `v1` Pod. Unknown fields are ignored, absent ones are `undefined` or empty. No text is too
 * long: the API server stores owners, reasons and amounts of any length, and such a pod must stay readable.
 */
export function decodePod(raw: unknown): Decoded<Pod> {
  return decodeObject(raw, readPod);
}

/**
 * As `decodePod`, but reads only the fields that quotas charge. The others are empty and cannot make a pod unreadable.
 */
export function decodeChargedPod(raw: unknown): Decoded<Pod> {
  return decodeObject(raw, (object) => ({
    ...BARE_POD,
    spec: { ...BARE_POD.spec, ...readObject(object, 'spec', readChargedSpec) },
    status: { ...BARE_POD.status, ...readObject(object, 'status', readChargedStatus) },
  }));
}

function readPod(object: WireObject): Pod {
  const identity = readPart(object, 'metadata', readMetadata);
  return {
    ...identity,
    spec: readPart(object, 'spec', readSpec),
    status: readPart(object, 'status', readStatus),
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
  if (at === undefined) return undefined;
  return { at, gracePeriodSeconds: readInteger(metadata, 'deletionGracePeriodSeconds') };
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
    scheduling: readScheduling(spec),
  };
}

function readChargedSpec(spec: WireObject): Partial<PodSpec> {
  return {
    containers: readList(spec, 'containers', readChargedContainer),
    initContainers: readList(spec, 'initContainers', readChargedContainer),
    overhead: readAmounts(spec, 'overhead') ?? NO_AMOUNTS,
    resources: readObject(spec, 'resources', readResources),
  };
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

function readChargedContainer(container: WireObject): Container {
  return {
    name: readClippedText(container, 'name') ?? '',
    resources: readObject(container, 'resources', readResources) ?? NO_RESOURCES,
    restartPolicy: readClippedText(container, 'restartPolicy'),
    ports: NO_PORTS,
  };
}

function readResources(resources: WireObject): Resources {
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

function readChargedStatus(status: WireObject): Partial<PodStatus> {
  return { phase: readClippedText(status, 'phase'), ...readHeldResources(status) };
}

function readHeldResources(status: WireObject, read = readContainerStatus) {
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

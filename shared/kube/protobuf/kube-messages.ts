import type { Field, WireMessage } from './decode-message.ts';

/*
 * Field numbers: `generated.proto` of k8s.io/api/core/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and pkg/runtime. They
 * never change within a version of a kind.
 */

/** The resources of a container, or of a pod as a whole. */
const RESOURCES: WireMessage = new Map<number, Field>([
  [1, { name: 'limits', type: 'quantity', many: 'map' }],
  [2, { name: 'requests', type: 'quantity', many: 'map' }],
]);

/** The fields of a container that quotas charge. */
const CONTAINER: WireMessage = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [8, { name: 'resources', type: RESOURCES }],
  [24, { name: 'restartPolicy', type: 'text' }],
]);

/** The resources allocated to a container. */
export const CONTAINER_STATUS: WireMessage = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [10, { name: 'allocatedResources', type: 'quantity', many: 'map' }],
  [11, { name: 'resources', type: RESOURCES }],
]);

const OBJECT_META: WireMessage = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [3, { name: 'namespace', type: 'text' }],
  [5, { name: 'uid', type: 'text' }],
  [6, { name: 'resourceVersion', type: 'text' }],
  [7, { name: 'generation', type: 'int64' }],
]);

/** The fields of a pod spec that quotas charge. */
export const CHARGED_SPEC: WireMessage = new Map<number, Field>([
  [2, { name: 'containers', type: CONTAINER, many: 'list' }],
  [20, { name: 'initContainers', type: CONTAINER, many: 'list' }],
  [24, { name: 'priorityClassName', type: 'text' }],
  [25, { name: 'priority', type: 'int32' }],
  [32, { name: 'overhead', type: 'quantity', many: 'map' }],
  [40, { name: 'resources', type: RESOURCES }],
]);

/** The fields of a pod status that describe its resources. */
export const CHARGED_STATUS: WireMessage = new Map<number, Field>([
  [1, { name: 'phase', type: 'text' }],
  [8, { name: 'containerStatuses', type: CONTAINER_STATUS, many: 'list' }],
  [10, { name: 'initContainerStatuses', type: CONTAINER_STATUS, many: 'list' }],
  [19, { name: 'allocatedResources', type: 'quantity', many: 'map' }],
  [20, { name: 'resources', type: RESOURCES }],
]);

/** An object of any kind: only the fields that identify it. */
export const OBJECT_HEAD: WireMessage = new Map<number, Field>([[1, { name: 'metadata', type: OBJECT_META }]]);

/** The fields of a Pod that quotas charge. */
export const CHARGED_POD: WireMessage = new Map<number, Field>([
  [1, { name: 'metadata', type: OBJECT_META }],
  [2, { name: 'spec', type: CHARGED_SPEC }],
  [3, { name: 'status', type: CHARGED_STATUS }],
]);

/** The metadata of a list. */
export const LIST_META: WireMessage = new Map<number, Field>([
  [2, { name: 'resourceVersion', type: 'text' }],
  [3, { name: 'continue', type: 'text' }],
]);

const STATUS_CAUSE: WireMessage = new Map<number, Field>([
  [1, { name: 'reason', type: 'text' }],
  [2, { name: 'message', type: 'text' }],
  [3, { name: 'field', type: 'text' }],
]);

const STATUS_DETAILS: WireMessage = new Map<number, Field>([
  [4, { name: 'causes', type: STATUS_CAUSE, many: 'list' }],
  [5, { name: 'retryAfterSeconds', type: 'int32' }],
]);

/** A failure Status of the API server. */
export const STATUS: WireMessage = new Map<number, Field>([
  [3, { name: 'message', type: 'text' }],
  [4, { name: 'reason', type: 'text' }],
  [5, { name: 'details', type: STATUS_DETAILS }],
  [6, { name: 'code', type: 'int32' }],
]);

const REQUIRED = 'requiredDuringSchedulingIgnoredDuringExecution';
const PREFERRED = 'preferredDuringSchedulingIgnoredDuringExecution';

const OWNER: WireMessage = new Map<number, Field>([
  [1, { name: 'kind', type: 'text' }],
  [3, { name: 'name', type: 'text' }],
  [4, { name: 'uid', type: 'text' }],
  [5, { name: 'apiVersion', type: 'text' }],
  [6, { name: 'controller', type: 'bool' }],
]);

/** Identity, deletion, labels, annotations and owners. */
export const POD_METADATA: WireMessage = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [3, { name: 'namespace', type: 'text' }],
  [5, { name: 'uid', type: 'text' }],
  [6, { name: 'resourceVersion', type: 'text' }],
  [9, { name: 'deletionTimestamp', type: 'time' }],
  [10, { name: 'deletionGracePeriodSeconds', type: 'int64' }],
  [11, { name: 'labels', type: 'text', many: 'map' }],
  [12, { name: 'annotations', type: 'text', many: 'map' }],
  [13, { name: 'ownerReferences', type: OWNER, many: 'list' }],
]);

/** The PodGroup that a pod names. */
export const SCHEDULING_GROUP: WireMessage = new Map<number, Field>([[1, { name: 'podGroupName', type: 'text' }]]);

const REQUIREMENT: WireMessage = new Map<number, Field>([
  [1, { name: 'key', type: 'text' }],
  [2, { name: 'operator', type: 'text' }],
  [3, { name: 'values', type: 'text', many: 'list' }],
]);

const SELECTOR: WireMessage = new Map<number, Field>([
  [1, { name: 'matchLabels', type: 'text', many: 'map' }],
  [2, { name: 'matchExpressions', type: REQUIREMENT, many: 'list' }],
]);

const NODE_TERM: WireMessage = new Map<number, Field>([
  [1, { name: 'matchExpressions', type: REQUIREMENT, many: 'list' }],
  [2, { name: 'matchFields', type: REQUIREMENT, many: 'list' }],
]);

const NODE_SELECTOR: WireMessage = new Map<number, Field>([
  [1, { name: 'nodeSelectorTerms', type: NODE_TERM, many: 'list' }],
]);

const PREFERRED_NODES: WireMessage = new Map<number, Field>([
  [1, { name: 'weight', type: 'int32' }],
  [2, { name: 'preference', type: NODE_TERM }],
]);

const NODE_AFFINITY: WireMessage = new Map<number, Field>([
  [1, { name: REQUIRED, type: NODE_SELECTOR }],
  [2, { name: PREFERRED, type: PREFERRED_NODES, many: 'list' }],
]);

const POD_TERM: WireMessage = new Map<number, Field>([
  [1, { name: 'labelSelector', type: SELECTOR }],
  [2, { name: 'namespaces', type: 'text', many: 'list' }],
  [3, { name: 'topologyKey', type: 'text' }],
  [4, { name: 'namespaceSelector', type: SELECTOR }],
  [5, { name: 'matchLabelKeys', type: 'text', many: 'list' }],
  [6, { name: 'mismatchLabelKeys', type: 'text', many: 'list' }],
]);

const WEIGHTED_TERM: WireMessage = new Map<number, Field>([
  [1, { name: 'weight', type: 'int32' }],
  [2, { name: 'podAffinityTerm', type: POD_TERM }],
]);

const POD_AFFINITY: WireMessage = new Map<number, Field>([
  [1, { name: REQUIRED, type: POD_TERM, many: 'list' }],
  [2, { name: PREFERRED, type: WEIGHTED_TERM, many: 'list' }],
]);

const AFFINITY: WireMessage = new Map<number, Field>([
  [1, { name: 'nodeAffinity', type: NODE_AFFINITY }],
  [2, { name: 'podAffinity', type: POD_AFFINITY }],
  [3, { name: 'podAntiAffinity', type: POD_AFFINITY }],
]);

const TOLERATION: WireMessage = new Map<number, Field>([
  [1, { name: 'key', type: 'text' }],
  [2, { name: 'operator', type: 'text' }],
  [3, { name: 'value', type: 'text' }],
  [4, { name: 'effect', type: 'text' }],
]);

const SPREAD: WireMessage = new Map<number, Field>([
  [1, { name: 'maxSkew', type: 'int32' }],
  [2, { name: 'topologyKey', type: 'text' }],
  [3, { name: 'whenUnsatisfiable', type: 'text' }],
  [4, { name: 'labelSelector', type: SELECTOR }],
  [5, { name: 'minDomains', type: 'int32' }],
  [6, { name: 'nodeAffinityPolicy', type: 'text' }],
  [7, { name: 'nodeTaintsPolicy', type: 'text' }],
  [8, { name: 'matchLabelKeys', type: 'text', many: 'list' }],
]);

const PORT: WireMessage = new Map<number, Field>([
  [2, { name: 'hostPort', type: 'int32' }],
  [4, { name: 'protocol', type: 'text' }],
  [5, { name: 'hostIP', type: 'text' }],
]);

const PORTED_CONTAINER: WireMessage = new Map<number, Field>([
  ...CONTAINER,
  [6, { name: 'ports', type: PORT, many: 'list' }],
]);

const SCHEDULING_GATE: WireMessage = new Map<number, Field>([[1, { name: 'name', type: 'text' }]]);

/** A message of which only its presence counts. */
export const NOTHING: WireMessage = new Map();

/** The sources that restrict no node, and a claim. */
const VOLUME_SOURCE: WireMessage = new Map<number, Field>([
  [1, { name: 'hostPath', type: NOTHING }],
  [2, { name: 'emptyDir', type: NOTHING }],
  [5, { name: 'gitRepo', type: NOTHING }],
  [6, { name: 'secret', type: NOTHING }],
  [7, { name: 'nfs', type: NOTHING }],
  [10, { name: 'persistentVolumeClaim', type: NOTHING }],
  [16, { name: 'downwardAPI', type: NOTHING }],
  [19, { name: 'configMap', type: NOTHING }],
  [26, { name: 'projected', type: NOTHING }],
  [30, { name: 'image', type: NOTHING }],
]);

/** A volume; a source that is not among these reads as none. */
export function volumeFrom(sources: WireMessage): WireMessage {
  return new Map<number, Field>([
    [1, { name: 'name', type: 'text' }],
    [2, { name: '', type: sources, many: 'inline' }],
  ]);
}

const RESOURCE_CLAIM: WireMessage = new Map<number, Field>([[1, { name: 'name', type: 'text' }]]);

const SCHEDULED_SPEC: WireMessage = new Map<number, Field>([
  ...CHARGED_SPEC,
  [1, { name: 'volumes', type: volumeFrom(VOLUME_SOURCE), many: 'list' }],
  [2, { name: 'containers', type: PORTED_CONTAINER, many: 'list' }],
  [3, { name: 'restartPolicy', type: 'text' }],
  [4, { name: 'terminationGracePeriodSeconds', type: 'int64' }],
  [7, { name: 'nodeSelector', type: 'text', many: 'map' }],
  [10, { name: 'nodeName', type: 'text' }],
  [11, { name: 'hostNetwork', type: 'bool' }],
  [18, { name: 'affinity', type: AFFINITY }],
  [20, { name: 'initContainers', type: PORTED_CONTAINER, many: 'list' }],
  [22, { name: 'tolerations', type: TOLERATION, many: 'list' }],
  [31, { name: 'preemptionPolicy', type: 'text' }],
  [33, { name: 'topologySpreadConstraints', type: SPREAD, many: 'list' }],
  [38, { name: 'schedulingGates', type: SCHEDULING_GATE, many: 'list' }],
  [39, { name: 'resourceClaims', type: RESOURCE_CLAIM, many: 'list' }],
  [43, { name: 'schedulingGroup', type: SCHEDULING_GROUP }],
]);

/** A condition, without its message. */
export const POD_CONDITION: WireMessage = new Map<number, Field>([
  [1, { name: 'type', type: 'text' }],
  [2, { name: 'status', type: 'text' }],
  [5, { name: 'reason', type: 'text' }],
]);

const TERMINATED: WireMessage = new Map<number, Field>([[3, { name: 'reason', type: 'text' }]]);

const CONTAINER_STATE: WireMessage = new Map<number, Field>([[3, { name: 'terminated', type: TERMINATED }]]);

/** Also why a container terminated, now or before its last restart, and its restart count. */
const SCHEDULED_CONTAINER_STATUS: WireMessage = new Map<number, Field>([
  ...CONTAINER_STATUS,
  [2, { name: 'state', type: CONTAINER_STATE }],
  [3, { name: 'lastState', type: CONTAINER_STATE }],
  [5, { name: 'restartCount', type: 'int32' }],
]);

const SCHEDULED_STATUS: WireMessage = new Map<number, Field>([
  ...CHARGED_STATUS,
  [2, { name: 'conditions', type: POD_CONDITION, many: 'list' }],
  [4, { name: 'reason', type: 'text' }],
  [7, { name: 'startTime', type: 'time' }],
  [8, { name: 'containerStatuses', type: SCHEDULED_CONTAINER_STATUS, many: 'list' }],
  [9, { name: 'qosClass', type: 'text' }],
  [10, { name: 'initContainerStatuses', type: SCHEDULED_CONTAINER_STATUS, many: 'list' }],
  [11, { name: 'nominatedNodeName', type: 'text' }],
]);

/** The fields of a Pod that a scheduler reads. */
export const SCHEDULED_POD: WireMessage = new Map<number, Field>([
  [1, { name: 'metadata', type: new Map([...POD_METADATA, [8, { name: 'creationTimestamp', type: 'time' }]]) }],
  [2, { name: 'spec', type: SCHEDULED_SPEC }],
  [3, { name: 'status', type: SCHEDULED_STATUS }],
]);

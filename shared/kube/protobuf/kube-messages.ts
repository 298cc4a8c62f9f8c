import type { Field, Message } from './decode-message.ts';

/*
 * Field numbers: `generated.proto` of k8s.io/api/core/v1, k8s.io/apimachinery/pkg/apis/meta/v1 and pkg/runtime. They
 * never change within a version of a kind.
 */

/** Of a container, or of a pod as a whole. */
export const RESOURCES: Message = new Map<number, Field>([
  [1, { name: 'limits', type: 'quantity', many: 'map' }],
  [2, { name: 'requests', type: 'quantity', many: 'map' }],
]);

/** A container, as far as quotas charge it. */
export const CONTAINER: Message = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [8, { name: 'resources', type: RESOURCES }],
  [24, { name: 'restartPolicy', type: 'text' }],
]);

/** What a container has been given. */
export const CONTAINER_STATUS: Message = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [10, { name: 'allocatedResources', type: 'quantity', many: 'map' }],
  [11, { name: 'resources', type: RESOURCES }],
]);

const OBJECT_META: Message = new Map<number, Field>([
  [1, { name: 'name', type: 'text' }],
  [3, { name: 'namespace', type: 'text' }],
  [5, { name: 'uid', type: 'text' }],
  [6, { name: 'resourceVersion', type: 'text' }],
  [7, { name: 'generation', type: 'int64' }],
]);

const CHARGED_SPEC: Message = new Map<number, Field>([
  [2, { name: 'containers', type: CONTAINER, many: 'list' }],
  [20, { name: 'initContainers', type: CONTAINER, many: 'list' }],
  [24, { name: 'priorityClassName', type: 'text' }],
  [25, { name: 'priority', type: 'int32' }],
  [32, { name: 'overhead', type: 'quantity', many: 'map' }],
  [40, { name: 'resources', type: RESOURCES }],
]);

/** What a pod's status says of the resources that it holds. */
export const CHARGED_STATUS: Message = new Map<number, Field>([
  [1, { name: 'phase', type: 'text' }],
  [8, { name: 'containerStatuses', type: CONTAINER_STATUS, many: 'list' }],
  [10, { name: 'initContainerStatuses', type: CONTAINER_STATUS, many: 'list' }],
  [19, { name: 'allocatedResources', type: 'quantity', many: 'map' }],
  [20, { name: 'resources', type: RESOURCES }],
]);

/** An object of any kind, as far as it says which one it is. */
export const OBJECT_HEAD: Message = new Map<number, Field>([[1, { name: 'metadata', type: OBJECT_META }]]);

/** A Pod, as far as quotas charge it. */
export const CHARGED_POD: Message = new Map<number, Field>([
  [1, { name: 'metadata', type: OBJECT_META }],
  [2, { name: 'spec', type: CHARGED_SPEC }],
  [3, { name: 'status', type: CHARGED_STATUS }],
]);

/** What a list says of itself. */
export const LIST_META: Message = new Map<number, Field>([
  [2, { name: 'resourceVersion', type: 'text' }],
  [3, { name: 'continue', type: 'text' }],
]);

const STATUS_CAUSE: Message = new Map<number, Field>([
  [1, { name: 'reason', type: 'text' }],
  [2, { name: 'message', type: 'text' }],
  [3, { name: 'field', type: 'text' }],
]);

const STATUS_DETAILS: Message = new Map<number, Field>([
  [4, { name: 'causes', type: STATUS_CAUSE, many: 'list' }],
  [5, { name: 'retryAfterSeconds', type: 'int32' }],
]);

/** A refusal of the API server. */
export const STATUS: Message = new Map<number, Field>([
  [3, { name: 'message', type: 'text' }],
  [4, { name: 'reason', type: 'text' }],
  [5, { name: 'details', type: STATUS_DETAILS }],
  [6, { name: 'code', type: 'int32' }],
]);

import type { Field, WireMessage } from './decode-message.ts';
import {
  CHARGED_SPEC,
  CHARGED_STATUS,
  CONTAINER_STATUS,
  NOTHING,
  POD_CONDITION,
  POD_METADATA,
  SCHEDULING_GROUP,
  volumeFrom,
} from './kube-messages.ts';

/*
 * A Pod, as far as the agent of its node reads it. Field numbers: `generated.proto` of k8s.io/api/core/v1 and
 * k8s.io/apimachinery/pkg/apis/meta/v1.
 */

const EMPTY_DIR: WireMessage = new Map<number, Field>([
  [1, { name: 'medium', type: 'text' }],
  [2, { name: 'sizeLimit', type: 'quantity' }],
]);

/** The sources that use the node's disk. */
const VOLUME_SOURCE: WireMessage = new Map<number, Field>([
  [1, { name: 'hostPath', type: NOTHING }],
  [2, { name: 'emptyDir', type: EMPTY_DIR }],
  [5, { name: 'gitRepo', type: NOTHING }],
  [19, { name: 'configMap', type: NOTHING }],
]);

const SPEC: WireMessage = new Map<number, Field>([
  ...CHARGED_SPEC,
  [1, { name: 'volumes', type: volumeFrom(VOLUME_SOURCE), many: 'list' }],
  [4, { name: 'terminationGracePeriodSeconds', type: 'int64' }],
  [10, { name: 'nodeName', type: 'text' }],
  [43, { name: 'schedulingGroup', type: SCHEDULING_GROUP }],
]);

const CONDITION: WireMessage = new Map<number, Field>([...POD_CONDITION, [6, { name: 'message', type: 'text' }]]);

/** When a container ended, so that an eviction by the kubelet that is shown late is not taken for a new one. */
const TERMINATED: WireMessage = new Map<number, Field>([[6, { name: 'finishedAt', type: 'time' }]]);
const CONTAINER_STATE: WireMessage = new Map<number, Field>([[3, { name: 'terminated', type: TERMINATED }]]);

const CONTAINER: WireMessage = new Map<number, Field>([
  ...CONTAINER_STATUS,
  [2, { name: 'state', type: CONTAINER_STATE }],
  [8, { name: 'containerID', type: 'text' }],
]);

const STATUS: WireMessage = new Map<number, Field>([
  ...CHARGED_STATUS,
  [2, { name: 'conditions', type: CONDITION, many: 'list' }],
  [3, { name: 'message', type: 'text' }],
  [4, { name: 'reason', type: 'text' }],
  [7, { name: 'startTime', type: 'time' }],
  [8, { name: 'containerStatuses', type: CONTAINER, many: 'list' }],
  [9, { name: 'qosClass', type: 'text' }],
  [10, { name: 'initContainerStatuses', type: CONTAINER, many: 'list' }],
]);

/**
 * The fields of a Pod that an agent reads: not the environment and the commands, which a tenant may fill with a
 * mebibyte.
 */
export const NODE_POD: WireMessage = new Map<number, Field>([
  [1, { name: 'metadata', type: POD_METADATA }],
  [2, { name: 'spec', type: SPEC }],
  [3, { name: 'status', type: STATUS }],
]);

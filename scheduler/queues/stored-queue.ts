import { decodeEvictedPods } from '#shared/api/evicted-pods.ts';
import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { decodeWrittenFields, fieldsOfOthers } from '#shared/api/queue-fields.ts';
import type { EvictedPod } from '#shared/domain/disruption/disruption.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ShareFields } from '#shared/domain/queue/follow-template.ts';
import { ANNOTATION_FROM_TEMPLATE, COMPONENT_NAMES, LABEL_MANAGED_BY, QUEUE_LEADER } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import { type Decoded, fieldOf, itemsOf } from '#shared/kube/decode/wire-object.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { QUEUES } from '#shared/kube/resource.ts';

/** A Queue with its stored status. */
export interface StoredQueue {
  readonly object: QueueObject;
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  /** The queue was created from a template, and no user has taken it over by removing the label. */
  readonly isMade: boolean;
  /** The template fields as the leader last wrote them. */
  readonly written: ShareFields | undefined;
  /** Fields of the spec that other managers own. */
  readonly taken: ReadonlySet<string>;
  readonly createdAt: Instant;
  readonly status: unknown;
}

/** Follows the Queues. Only the leader reads their statuses, which are most of each object. */
export function followQueues(context: ClientContext, keepsStatus: boolean): Reflector<StoredQueue> {
  const decode = decodeWith(decodeStoredQueue);
  const slim = (raw: KubeObject): StoredQueue => (keepsStatus ? decode(raw) : { ...decode(raw), status: undefined });
  return createReflector({ ...context, resource: QUEUES, slim, backoff: REFLECTOR_BACKOFF });
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** For a Queue created from a template: whether it has no pods. */
export const EMPTY_CONDITION = 'Empty';

/** Reads a Queue for the leader. */
export function decodeStoredQueue(raw: unknown): Decoded<StoredQueue> {
  const decoded = decodeQueue(raw);
  if (!decoded.ok) return decoded;
  const { metadata, status } = raw as KubeObject;
  const { uid = '', resourceVersion, labels, annotations } = metadata;
  const isMade = labels?.[LABEL_MANAGED_BY] === QUEUE_LEADER;
  const written = decodeWrittenFields(annotations?.[ANNOTATION_FROM_TEMPLATE]);
  const taken = isMade ? fieldsOfOthers(fieldOf(metadata, 'managedFields'), COMPONENT_NAMES.scheduler) : NO_FIELDS;
  const createdAt = Date.parse(metadata.creationTimestamp ?? '') || 0;
  return {
    ok: true,
    value: { object: decoded.value, uid, resourceVersion, isMade, written, taken, createdAt, status },
  };
}

/** The pods that the stored status of a queue lists as evicted for it. */
export function evictedFor(queues: Iterable<StoredQueue>, name: string): readonly EvictedPod[] {
  for (const queue of queues) if (queue.object.name === name) return decodeEvictedPods(queue);
  return [];
}

/** Since when the stored status has said that the queue has no pods; a new leader continues the count. */
export function emptySince({ status }: StoredQueue): Instant | undefined {
  const condition = itemsOf(fieldOf(status, 'conditions')).find((each) => fieldOf(each, 'type') === EMPTY_CONDITION);
  const at = Date.parse(String(fieldOf(condition, 'lastTransitionTime')));
  return fieldOf(condition, 'status') !== 'True' || Number.isNaN(at) ? undefined : at;
}

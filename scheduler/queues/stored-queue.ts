import { decodeQueue, type QueueObject } from '#shared/api/queue.ts';
import { decodeWrittenFields, fieldsOfOthers } from '#shared/api/queue-fields.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { ShareFields } from '#shared/domain/queue/follow-template.ts';
import { ANNOTATION_FROM_TEMPLATE, COMPONENT_NAMES, LABEL_MANAGED_BY, QUEUE_LEADER } from '#shared/kube/api-names.ts';
import type { ClientContext } from '#shared/kube/client/client.ts';
import type { Decoded } from '#shared/kube/decode/wire-object.ts';
import { fieldOf, itemsOf, type KubeObject } from '#shared/kube/kube-object.ts';
import { createReflector, decodeWith, type Reflector } from '#shared/kube/reflector/reflector.ts';
import { REFLECTOR_BACKOFF } from '#shared/kube/reflector/reflector-plan.ts';
import { QUEUES } from '#shared/kube/resource.ts';

/** A Queue with the status that is stored. */
export interface StoredQueue {
  readonly object: QueueObject;
  readonly uid: string;
  readonly resourceVersion: string | undefined;
  /** It was made from a template, and no person has taken it over by removing the label. */
  readonly isMade: boolean;
  /** What the leader wrote of the template when it made the queue, or changed it last. */
  readonly written: ShareFields | undefined;
  /** Fields of the spec that others own. */
  readonly taken: ReadonlySet<string>;
  readonly createdAt: Instant;
  readonly status: unknown;
}

/** Follows the Queues. Only the leader of the queues reads their status, which is most of each. */
export function followQueues(context: ClientContext, keepsStatus: boolean): Reflector<StoredQueue> {
  const decode = decodeWith(decodeStoredQueue);
  const slim = (raw: KubeObject): StoredQueue => (keepsStatus ? decode(raw) : { ...decode(raw), status: undefined });
  return createReflector({ ...context, resource: QUEUES, slim, backoff: REFLECTOR_BACKOFF });
}

const NO_FIELDS: ReadonlySet<string> = new Set();

/** Of a Queue that was made from a template: no pod stands in it. */
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

/** Since when the stored status says that no pod stands in the queue; leaders that follow each other go on counting. */
export function emptySince({ status }: StoredQueue): Instant | undefined {
  const condition = itemsOf(fieldOf(status, 'conditions')).find((each) => fieldOf(each, 'type') === EMPTY_CONDITION);
  const at = Date.parse(String(fieldOf(condition, 'lastTransitionTime')));
  return fieldOf(condition, 'status') !== 'True' || Number.isNaN(at) ? undefined : at;
}

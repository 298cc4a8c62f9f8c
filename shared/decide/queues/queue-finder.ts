import { NO_LABELS } from '#shared/domain/labels/label-selector.ts';
import { childName, type ChildOf } from '#shared/domain/queue/child-queues.ts';
import { findQueue, type FoundQueue, type QueueDirectory } from '#shared/domain/queue/find-queue.ts';
import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { ROOT_QUEUE } from '#shared/domain/queue/queue.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { LABEL_QUEUE } from '#shared/kube/api-names.ts';
import type { QueuedPod } from './queued-pod.ts';

/** The queue in which a pod stands. */
export interface FindQueue {
  (pod: Pick<QueuedPod, 'namespace' | 'label'>): FoundQueue;
}

export interface QueueFinderInput {
  readonly snapshot: Pick<ClusterSnapshot, 'namespaces'>;
  readonly directory: QueueDirectory;
}

/** What was found in a namespace with these labels, by the label of the pod. */
interface FoundIn {
  readonly labels: ReadonlyMap<string, string>;
  readonly queues: Map<string, FoundQueue>;
}

/** Each namespace is compared with all selectors once, until its labels or the queues change. */
const foundIn = new WeakMap<QueueDirectory, Map<string, FoundIn>>();
const MAX_NAMESPACES = 50_000;
const MAX_LABELS = 1_000;
/** Pods of one namespace with one label stand in one queue. `onSearch` is called where selectors have to be compared. */
export function queueFinder({ snapshot, directory }: QueueFinderInput, onSearch: () => void): FindQueue {
  const known = foundIn.get(directory) ?? new Map<string, FoundIn>();
  foundIn.set(directory, known);
  const foundFor = (namespace: string): FoundIn => {
    const labels = snapshot.namespaces.get(namespace) ?? NO_LABELS;
    const before = known.get(namespace);
    if (before?.labels === labels) return before;
    const found = { labels, queues: new Map<string, FoundQueue>() };
    putBounded(known, MAX_NAMESPACES, [namespace, found]);
    return found;
  };
  return ({ namespace, label }) => {
    const { labels, queues } = foundFor(namespace);
    const before = queues.get(label);
    if (before !== undefined) return before;
    onSearch();
    const namespaceQueue = labels.get(LABEL_QUEUE) ?? '';
    const queue = findQueue({ label, namespace, namespaceQueue, namespaceLabels: labels }, directory);
    putBounded(queues, MAX_LABELS, [label, queue]);
    return queue;
  };
}

/** Notes each queue that is to be made for one of the pods. */
export function noteWanted(find: FindQueue, wanted: Map<string, ChildOf>): FindQueue {
  return (pod) => {
    const found = find(pod);
    if (found.kind === 'none' && found.child !== undefined) wanted.set(childName(found.child), found.child);
    return found;
  };
}

/** The queue that a pod counts for: the one that it was let in to, else the one that it stands in. */
export function chargedQueue(
  { admitted, namespace, label }: Pick<QueuedPod, 'admitted' | 'namespace' | 'label'>,
  find: FindQueue,
): string {
  if (admitted !== undefined) return admitted.queue;
  const found = find({ namespace, label });
  return found.kind === 'queue' ? found.name : ROOT_QUEUE;
}

/** What a pod says of its queue that was on a node before its namespace was managed. */
export function untracked({ namespace, labels }: Pick<Pod, 'namespace' | 'labels'>) {
  return { admitted: undefined, namespace, label: labels.get(LABEL_QUEUE) ?? '' };
}

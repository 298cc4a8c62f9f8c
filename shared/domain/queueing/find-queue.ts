import type { Selector } from '#shared/domain/labels/label-selector.ts';
import { type Because, reason } from '#shared/domain/model/because.ts';
import { isLeaf, type QueueTree } from '#shared/domain/queue/queue-tree.ts';

/** The queues that there are, and whose namespaces may use each. */
export interface QueueDirectory {
  readonly tree: QueueTree;
  /** By queue name. */
  readonly selectors: ReadonlyMap<string, Selector>;
}

/** What decides in which queue a pod stands. */
export interface QueueQuestion {
  /** The label of the pod; empty where it has none. */
  readonly label: string;
  readonly namespace: string;
  /** The label of the namespace; empty where it has none. */
  readonly namespaceQueue: string;
  readonly namespaceLabels: ReadonlyMap<string, string>;
}

export type FoundQueue =
  | { readonly kind: 'queue'; readonly name: string; readonly index: number }
  | { readonly kind: 'none'; readonly because: Because };

const NOT_FOUND = reason<{ queue: string }>('QueueNotFound', ({ queue }) => `queue ${queue} does not exist`);
const NOT_A_LEAF = reason<{ queue: string }>(
  'QueueHasChildren',
  ({ queue }) => `queue ${queue} has queues below it, and pods can stand only in one of those`,
);
const DETACHED = reason<{ queue: string; why: string }>(
  'QueueDetached',
  ({ queue, why }) => `queue ${queue} is not part of the tree: ${why}`,
);
const NOT_ADMITTED = reason<{ queue: string; namespace: string }>(
  'NamespaceNotAdmitted',
  ({ queue, namespace }) =>
    `queue ${queue} does not admit namespace ${namespace}: its namespaceSelector does not select it`,
);
const NO_QUEUE = reason<{ namespace: string }>(
  'NoQueue',
  ({ namespace }) => `no queue selects namespace ${namespace}, and neither pod nor namespace names one`,
);

const WHY_DETACHED = { UnknownParent: 'its parent does not exist', Cycle: 'its parents lead back to it' } as const;

/**
 * The queue of a pod: the one that its label names, if that admits the namespace; else the one that the namespace names;
 * else the one that selects the namespace, of several the first by name.
 */
export function findQueue(question: QueueQuestion, directory: QueueDirectory): FoundQueue {
  const { label, namespace, namespaceQueue } = question;
  if (label !== '' && label !== namespaceQueue) {
    const found = leafNamed(label, directory);
    if (found.kind === 'none' || admits(label, question, directory)) return found;
    return { kind: 'none', because: NOT_ADMITTED({ queue: label, namespace }, { queue: label, namespace }) };
  }
  if (namespaceQueue !== '') return leafNamed(namespaceQueue, directory);
  return selectingQueue(question, directory) ?? { kind: 'none', because: NO_QUEUE({ namespace }, { namespace }) };
}

function leafNamed(queue: string, { tree }: QueueDirectory): FoundQueue {
  const index = tree.indexes.get(queue);
  if (index === undefined) return { kind: 'none', because: NOT_FOUND({ queue }, { queue }) };
  const detached = tree.detached.get(queue);
  if (detached !== undefined) {
    return { kind: 'none', because: DETACHED({ queue, why: WHY_DETACHED[detached] }, { queue, detached }) };
  }
  if (!isLeaf(tree, index)) return { kind: 'none', because: NOT_A_LEAF({ queue }, { queue }) };
  return { kind: 'queue', name: queue, index };
}

function admits(queue: string, { namespaceLabels }: QueueQuestion, { selectors }: QueueDirectory): boolean {
  return selectors.get(queue)?.matches(namespaceLabels) === true;
}

function selectingQueue(question: QueueQuestion, directory: QueueDirectory): FoundQueue | undefined {
  const { tree, selectors } = directory;
  const names = Array.from(selectors.keys()).filter((name) => admits(name, question, directory));
  const leaves = names.filter((name) => isLeaf(tree, tree.indexes.get(name) as number)).sort();
  return leaves[0] === undefined ? undefined : leafNamed(leaves[0], directory);
}

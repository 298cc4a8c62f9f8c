import type { Selector } from '#shared/domain/labels/label-selector.ts';
import { type Because, reason } from '#shared/domain/base/because.ts';
import { childName, type ChildOf, MAX_CHILDREN } from '#shared/domain/queue/child-queues.ts';
import { isLeaf, type QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { childrenAt, numberOf } from './queue-tree.ts';

/** The existing queues, and which namespaces may use each. */
export interface QueueDirectory {
  readonly tree: QueueTree;
  /** By queue name. */
  readonly selectors: ReadonlyMap<string, Selector>;
}

/** What decides the queue of a pod. */
export interface QueueQuestion {
  /** The label of the pod; empty if it has none. */
  readonly label: string;
  readonly namespace: string;
  /** The label of the namespace; empty if it has none. */
  readonly namespaceQueue: string;
  readonly namespaceLabels: ReadonlyMap<string, string>;
}

export type FoundQueue =
  | { readonly kind: 'queue'; readonly name: string; readonly index: number }
  | {
      readonly kind: 'none';
      readonly because: Because;
      /** The queue to create for the pod. */
      readonly child?: ChildOf;
    };

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

const NOT_MADE = reason<{ queue: string; child: string }>(
  'QueueNotMade',
  ({ queue, child }) => `waits until queue ${child} is made from the template of queue ${queue}`,
);
const TOO_MANY = reason<{ queue: string }>(
  'TooManyChildren',
  ({ queue }) => `queue ${queue} has ${MAX_CHILDREN} queues below it, and no more are made from its template`,
);
const NAME_TAKEN = reason<{ queue: string; child: string }>(
  'ChildNameTaken',
  ({ queue, child }) => `queue ${child} is not part of queue ${queue}: give it another name or set its parent`,
);

const WHY_DETACHED = {
  UnknownParent: 'a queue above it does not exist',
  Cycle: 'its parents lead back to it',
} as const;

/**
 * The queue of a pod: the one that its label names, if that queue admits the namespace; else the one that the namespace
 * names; else the one that selects the namespace (the first by name if there are several). If that queue has a
 * template, the pod's queue is the one created below it for the namespace.
 */
export function findQueue(question: QueueQuestion, directory: QueueDirectory): FoundQueue {
  const { label, namespace, namespaceQueue } = question;
  if (label !== '' && label !== namespaceQueue) {
    const found = leafNamed(label, namespace, directory);
    const isPlace = found.kind === 'queue' || found.child !== undefined;
    return isPlace && !admits(label, question, directory) ? notAdmitted(label, namespace) : found;
  }
  if (namespaceQueue !== '') return leafNamed(namespaceQueue, namespace, directory);
  return selectingQueue(question, directory) ?? { kind: 'none', because: NO_QUEUE({ namespace }, { namespace }) };
}

function notAdmitted(queue: string, namespace: string): FoundQueue {
  return { kind: 'none', because: NOT_ADMITTED({ queue, namespace }, { queue, namespace }) };
}

function leafNamed(queue: string, namespace: string, directory: QueueDirectory): FoundQueue {
  const { tree } = directory;
  const index = tree.indexes.get(queue);
  if (index === undefined || tree.detached.has(queue)) return { kind: 'none', because: whyNoLeaf(tree, queue) };
  if (tree.queues[index]?.childTemplate !== undefined) return childFor({ parent: queue, namespace }, index, directory);
  if (!isLeaf(tree, index)) return { kind: 'none', because: whyNoLeaf(tree, queue) };
  return { kind: 'queue', name: queue, index };
}

/** Why pods cannot stand in a queue that is missing, detached or has others below it. */
export function whyNoLeaf({ indexes, detached }: QueueTree, queue: string): Because {
  if (!indexes.has(queue)) return NOT_FOUND({ queue }, { queue });
  const reasonOf = detached.get(queue);
  if (reasonOf === undefined) return NOT_A_LEAF({ queue }, { queue });
  return DETACHED({ queue, why: WHY_DETACHED[reasonOf] }, { queue, detached: reasonOf });
}

function childFor(child: ChildOf, parentIndex: number, directory: QueueDirectory): FoundQueue {
  const { tree } = directory;
  const { parent: queue, namespace } = child;
  const name = childName(child);
  const index = tree.indexes.get(name);
  if (index === undefined) {
    const isFull = childrenAt(tree, parentIndex).length >= MAX_CHILDREN;
    if (isFull) return { kind: 'none', because: TOO_MANY({ queue }, { queue }) };
    return { kind: 'none', because: NOT_MADE({ queue, child: name }, { queue, child: name }), child };
  }
  if (tree.parents[index] === parentIndex) return leafNamed(name, namespace, directory);
  return { kind: 'none', because: NAME_TAKEN({ queue, child: name }, { queue, child: name }) };
}

function admits(queue: string, { namespaceLabels }: QueueQuestion, { selectors }: QueueDirectory): boolean {
  return selectors.get(queue)?.matches(namespaceLabels) === true;
}

function selectingQueue(question: QueueQuestion, directory: QueueDirectory): FoundQueue | undefined {
  const { tree, selectors } = directory;
  const names = Array.from(selectors.keys()).filter((name) => admits(name, question, directory));
  const first = names.filter((name) => takesPods(tree, numberOf(tree, name))).sort()[0];
  return first === undefined ? undefined : leafNamed(first, question.namespace, directory);
}

function takesPods(tree: QueueTree, index: number): boolean {
  const queue = tree.queues[index];
  return isLeaf(tree, index) || (queue?.childTemplate !== undefined && !tree.detached.has(queue.name));
}

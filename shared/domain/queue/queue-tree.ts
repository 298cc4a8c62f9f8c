import { plainQueue, type Queue, type QueueAmounts, ROOT_QUEUE } from './queue.ts';

/** Queues by number: the root is 0, and a parent has a lower number than its children. */
export interface QueueTree {
  readonly queues: readonly Queue[];
  readonly indexes: ReadonlyMap<string, number>;
  /** -1 above the root. */
  readonly parents: Int32Array;
  /** In the order of their names. */
  readonly children: readonly (readonly number[])[];
  /** Queues outside the tree: their parent does not exist, or they form a cycle. */
  readonly detached: ReadonlyMap<string, DetachedReason>;
  /** What `guaranteed` of the queues means; by default what was promised to them. */
  readonly floor?: 'share';
  /** Where `guaranteed` is a share: the types of which some queue has more than its share. */
  readonly contended?: ReadonlySet<string>;
  /** Where `guaranteed` is a share: the same queues with what was promised to them, which comes first. */
  readonly promised?: QueueTree;
  /** What there is to divide. Of a type of which there is enough for all, a guarantee protects no pod. */
  readonly total?: QueueAmounts;
}

export type DetachedReason = 'UnknownParent' | 'Cycle';

/**
 * Orders queues as a tree, in linear time. A detached queue is placed directly below the root without weight and
 * guarantee: its running pods count and stay, and no more pods are let in. Names must be unique.
 */
export function createQueueTree(queues: readonly Queue[]): QueueTree {
  const byName = new Map(queues.map((queue) => [queue.name, queue]));
  const root = byName.get(ROOT_QUEUE) ?? plainQueue(ROOT_QUEUE);
  byName.set(ROOT_QUEUE, { ...root, parent: undefined });
  const detached = findDetached(byName);
  const ordered = inOrder(byName, detached);
  const indexes = new Map(ordered.map(({ name }, index) => [name, index]));
  const parents = Int32Array.from(ordered, ({ name, parent }) => {
    return name === ROOT_QUEUE ? -1 : (indexes.get(parent ?? ROOT_QUEUE) as number);
  });
  const children: number[][] = ordered.map(() => []);
  parents.forEach((parent, index) => children[parent]?.push(index));
  return { queues: ordered, indexes, parents, children, detached };
}

/** The queue with this number. */
export function queueAt({ queues }: QueueTree, index: number): Queue {
  return queues[index] as Queue;
}

/** The number of its parent; -1 above the root. */
export function parentAt({ parents }: QueueTree, index: number): number {
  return parents[index] as number;
}

/** The numbers of its children, in the order of their names. */
export function childrenAt({ children }: QueueTree, index: number): readonly number[] {
  return children[index] as readonly number[];
}

/** The number of a queue that is in the tree. */
export function numberOf({ indexes }: QueueTree, name: string): number {
  return indexes.get(name) as number;
}

/** A queue and all queues above it, by number, itself first. */
export function pathOf(tree: QueueTree, index: number): readonly number[] {
  const path: number[] = [];
  for (let at = index; at >= 0; at = parentAt(tree, at)) path.push(at);
  return path;
}

/** Whether pods may be in the queue: it has no children, is not detached, and has no template. */
export function isLeaf(tree: QueueTree, index: number): boolean {
  const { name, childTemplate } = queueAt(tree, index);
  return childrenAt(tree, index).length === 0 && !tree.detached.has(name) && childTemplate === undefined;
}

function findDetached(byName: ReadonlyMap<string, Queue>): ReadonlyMap<string, DetachedReason> {
  const detached = new Map<string, DetachedReason>();
  const attached = new Set([ROOT_QUEUE]);
  for (const name of byName.keys()) {
    const walked = new Set<string>();
    let at: string | undefined = name;
    while (at !== undefined && !attached.has(at) && !detached.has(at) && !walked.has(at)) {
      walked.add(at);
      at = parentName(byName, at);
    }
    const reason = reasonAt(at, walked, detached);
    for (const each of walked) {
      if (reason === undefined) attached.add(each);
      else detached.set(each, reason);
    }
  }
  return detached;
}

/** Why everything on this path is detached; `undefined` if it leads to the root. */
function reasonAt(
  end: string | undefined,
  walked: ReadonlySet<string>,
  detached: ReadonlyMap<string, DetachedReason>,
): DetachedReason | undefined {
  if (end === undefined) return 'UnknownParent';
  return walked.has(end) ? 'Cycle' : detached.get(end);
}

/** The parent queue; `undefined` if it does not exist. */
function parentName(byName: ReadonlyMap<string, Queue>, name: string): string | undefined {
  const parent = byName.get(name)?.parent ?? ROOT_QUEUE;
  return byName.has(parent) ? parent : undefined;
}

/** Level by level from the root, siblings by name. */
function inOrder(byName: ReadonlyMap<string, Queue>, detached: ReadonlyMap<string, DetachedReason>): readonly Queue[] {
  const childrenOf = Map.groupBy(
    [...byName.values()]
      .filter(({ name }) => name !== ROOT_QUEUE)
      .map((queue) => (detached.has(queue.name) ? detach(queue) : queue))
      .sort((a, b) => (a.name < b.name ? -1 : 1)),
    ({ parent }) => parent ?? ROOT_QUEUE,
  );
  const ordered: Queue[] = [byName.get(ROOT_QUEUE) as Queue];
  for (const { name } of ordered) ordered.push(...(childrenOf.get(name) ?? []));
  return ordered;
}

function detach({ name, preemption, ordering }: Queue): Queue {
  const bare = plainQueue(name, ROOT_QUEUE);
  return { ...bare, weight: 0, preemption: { ...preemption, policy: 'Disabled' }, ordering };
}

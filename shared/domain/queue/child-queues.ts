import type { Instant } from '#shared/domain/pod/pod.ts';
import { plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { isLeaf, type QueueTree } from './queue-tree.ts';

/*
 * Queues created from the template of another queue (S2-34): one for each namespace whose pods name that queue, never
 * for a value that a pod can choose freely, so that a tenant gets only as many queues as it has namespaces.
 */

/** A queue created for the pods of one namespace. */
export interface ChildOf {
  readonly parent: string;
  readonly namespace: string;
}

/** Below one queue, including those that an administrator created. */
export const MAX_CHILDREN = 500;
/** How long a queue created from a template is kept without pods. */
export const EMPTY_MS = 3_600_000;

/** The name of a namespace has no dot, so that no two queues get the same name. */
export function childName({ parent, namespace }: ChildOf): string {
  return `${parent}.${namespace}`;
}

export interface ChildrenQuestion {
  readonly tree: QueueTree;
  /** Namespaces whose pods have no queue yet. */
  readonly wanted: Iterable<ChildOf>;
  /** Queues that were created but are not in the tree yet. */
  readonly created: Iterable<NewChild>;
  /** Queues created from a template, and since when each has had no pod. */
  readonly made: Iterable<{ readonly name: string; readonly emptySince: Instant | undefined }>;
  /** Names of the queues with pods, waiting or let in. */
  readonly occupied: ReadonlySet<string>;
  readonly now: Instant;
}

export interface NewChild extends ChildOf {
  /** Whether it gets the guarantee of the template: the parent's guarantee must be enough for it too. */
  readonly isGuaranteed: boolean;
}

export interface ChildrenDecision {
  /** In the order of the requests. */
  readonly create: readonly NewChild[];
  /** Names of queues. */
  readonly remove: readonly string[];
}

/**
 * Which queues to create from templates now, and which of the created ones have been empty for an hour. One queue has
 * at most 500 below it. The guarantees below a queue with a template never exceed its own: a further queue is created
 * without one and shares by weight, so that more namespaces mean a finer division, not a larger share.
 */
export function decideChildren(question: ChildrenQuestion): ChildrenDecision {
  const { tree, wanted, created, made, occupied, now } = question;
  const families = new Map<string, SiblingQueues>();
  const familyOf = (parent: string): SiblingQueues | undefined => {
    const known = families.get(parent) ?? createFamily(tree, parent);
    if (known !== undefined) families.set(parent, known);
    return known;
  };
  for (const child of created) {
    if (!tree.indexes.has(childName(child))) familyOf(child.parent)?.add(child.isGuaranteed);
  }
  const pending = new Set(Array.from(created, childName));
  const create = Array.from(wanted).flatMap((child): NewChild[] => {
    const family = familyOf(child.parent);
    if (family === undefined || family.isFull() || isThere(child, tree, pending)) return [];
    const isGuaranteed = family.coversOneMore();
    family.add(isGuaranteed);
    return [{ ...child, isGuaranteed }];
  });
  const remove = Array.from(made).filter(({ name, emptySince }) => {
    return emptySince !== undefined && now - emptySince >= EMPTY_MS && !occupied.has(name) && isChildless(tree, name);
  });
  return { create, remove: remove.map(({ name }) => name) };
}

function isThere(child: ChildOf, { indexes }: QueueTree, pending: ReadonlySet<string>): boolean {
  const name = childName(child);
  return indexes.has(name) || pending.has(name);
}

/** An administrator may have created queues below it. */
function isChildless(tree: QueueTree, name: string): boolean {
  const index = tree.indexes.get(name);
  return index !== undefined && (isLeaf(tree, index) || tree.detached.has(name));
}

/** The queues below one with a template, counted while more are created. */
class SiblingQueues {
  readonly #own: ReadonlyMap<string, Whole>;
  readonly #each: ReadonlyMap<string, Whole>;
  readonly #others: ReadonlyMap<string, Whole>;
  #count: number;
  #guaranteed = 0;

  constructor(own: ReadonlyMap<string, Whole>, each: ReadonlyMap<string, Whole>, others: readonly QueueGuarantee[]) {
    this.#own = own;
    this.#each = each;
    this.#count = others.length;
    const sum = (type: string): Whole =>
      others.reduce<Whole>((total, { guaranteed }) => plus(total, guaranteed.get(type) ?? 0), 0);
    this.#others = new Map(Array.from(each.keys(), (type) => [type, sum(type)]));
  }

  isFull(): boolean {
    return this.#count >= MAX_CHILDREN;
  }

  add(isGuaranteed: boolean): void {
    this.#count += 1;
    if (isGuaranteed) this.#guaranteed += 1;
  }

  coversOneMore(): boolean {
    return Array.from(this.#each).every(([type, amount]) => {
      const all = plus(this.#others.get(type) ?? 0, times(amount, this.#guaranteed + 1));
      return all <= (this.#own.get(type) ?? 0);
    });
  }
}

interface QueueGuarantee {
  readonly guaranteed: ReadonlyMap<string, Whole>;
}

function createFamily({ indexes, queues, children }: QueueTree, parent: string): SiblingQueues | undefined {
  const index = indexes.get(parent) ?? -1;
  const queue = queues[index];
  if (queue?.childTemplate === undefined) return undefined;
  const others = (children[index] ?? []).flatMap((child) => queues[child] ?? []);
  return new SiblingQueues(queue.guaranteed, queue.childTemplate.guaranteed, others);
}

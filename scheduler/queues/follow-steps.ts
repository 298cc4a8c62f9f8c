import { shareFields } from '#shared/api/queue-fields.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import type { Whole } from '#shared/domain/quantity/whole.ts';
import { childName, type NewChild } from '#shared/domain/queue/child-queues.ts';
import { type FollowStep, followTemplate, type MadeQueue } from '#shared/domain/queue/follow-template.ts';
import { NO_QUEUE_AMOUNTS, type QueueAmounts, queueAmounts } from '#shared/domain/queue/queue.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { addAmounts } from '#shared/domain/queue/usage.ts';
import type { StoredQueue } from './stored-queue.ts';

/** The changes below each queue with a template, oldest queue first; the tree need not show the queues in `unseen`. */
export function followSteps(
  tree: QueueTree,
  stored: ReadonlyMap<string, StoredQueue>,
  unseen: readonly NewChild[],
): readonly FollowStep[] {
  const families = Map.groupBy([...stored.values()].filter(isInPlace), ({ object }) => object.parent ?? '');
  return [...families].flatMap(([parent, queues]) => {
    const template = stored.get(parent)?.object.childTemplate;
    const index = tree.indexes.get(parent);
    if (template === undefined || index === undefined) return [];
    const each = queueAmounts(template.guaranteed);
    const more = unseen.filter((child) => child.parent === parent && child.isGuaranteed);
    return followTemplate({
      template: shareFields(template),
      each,
      guaranteed: tree.queues[index]?.guaranteed ?? NO_QUEUE_AMOUNTS,
      promised: promisedBelow(tree, index, { more, each }),
      made: queues.toSorted(compareAges).map(madeQueue),
    });
  });
}

/** A user may have moved it below another queue. */
function isInPlace({ isMade, object: { name, parent } }: StoredQueue): boolean {
  return isMade && parent !== undefined && name.startsWith(`${parent}.`);
}

interface Unseen {
  readonly more: readonly NewChild[];
  readonly each: QueueAmounts;
}

function promisedBelow({ children, queues, indexes }: QueueTree, parent: number, unseen: Unseen): QueueAmounts {
  const promised = new Map<string, Whole>();
  for (const child of children[parent] ?? []) addAmounts(promised, queues[child]?.guaranteed ?? NO_QUEUE_AMOUNTS);
  for (const child of unseen.more) if (!indexes.has(childName(child))) addAmounts(promised, unseen.each);
  return promised;
}

function compareAges(a: StoredQueue, b: StoredQueue): number {
  return a.createdAt - b.createdAt || compareTexts(a.object.name, b.object.name);
}

/** Checked once a second, and rarely changed. */
const madeQueues = new WeakMap<StoredQueue, MadeQueue>();

function madeQueue(queue: StoredQueue): MadeQueue {
  const { object, written, taken } = queue;
  const { name, guaranteed } = object;
  const read = (): MadeQueue => ({
    name,
    written,
    taken,
    live: shareFields(object),
    guaranteed: queueAmounts(guaranteed),
  });
  const made = madeQueues.get(queue) ?? read();
  madeQueues.set(queue, made);
  return made;
}

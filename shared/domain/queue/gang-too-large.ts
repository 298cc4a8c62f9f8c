import type { Because } from '#shared/domain/base/because.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import { type QueueAmounts, queueQuantity } from './queue.ts';
import { pathOf, type QueueTree } from './queue-tree.ts';
import type { Gang, GangMember } from '#shared/domain/gang/gang.ts';
import { TOO_LARGE } from '#shared/domain/gang/messages.ts';

const PODS = 'pods';
/** In thousandths. */
const ONE_POD = 1_000;

type SizedGang = Gang<GangMember & { readonly requests: QueueAmounts }>;

/**
 * Why a gang may never go in: its smallest members, as many as have to run together, request more than its queue or one
 * above it may ever have. Members that are not there yet count as a pod and no more, those that are in count in any case.
 */
export function tooLarge(gang: SizedGang, tree: QueueTree): Because | undefined {
  const index = tree.indexes.get(gang.queue);
  if (index === undefined || !isWaitingAsOne(gang)) return undefined;
  for (const at of pathOf(tree, index)) {
    const queue = tree.queues[at];
    for (const [type, limit] of queue?.max ?? []) {
      const needed = leastOf(gang, type);
      if (needed > limit) return because(gang, type, { queue: queue?.name ?? '', needed, limit });
    }
  }
  return undefined;
}

/** What comes to a gang that runs goes in pod by pod. */
function isWaitingAsOne({ members, min }: SizedGang): boolean {
  const inside = members.filter(({ isIn }) => isIn).length;
  return inside < min && inside < members.length;
}

function leastOf({ members, min }: SizedGang, type: string): Whole {
  if (type === PODS) return times(min, ONE_POD);
  const amounts = (those: SizedGang['members']) => those.map(({ requests }) => requests.get(type) ?? 0);
  const inside = amounts(members.filter(({ isIn }) => isIn));
  const outside = amounts(members.filter(({ isIn }) => !isIn)).sort((a, b) => (a < b ? -1 : Number(a > b)));
  return [...inside, ...outside].slice(0, min).reduce<Whole>(plus, 0);
}

interface Over {
  readonly queue: string;
  readonly needed: Whole;
  readonly limit: Whole;
}

function because({ key: gang, min, members }: SizedGang, type: string, { queue, ...over }: Over): Because {
  const text = (amount: Whole): string => formatQuantity(queueQuantity(type, amount));
  const pods = type === PODS ? min : Math.min(min, members.length);
  const facts = { gang, type, queue, needed: text(over.needed), limit: text(over.limit), pods };
  return TOO_LARGE(facts, facts);
}

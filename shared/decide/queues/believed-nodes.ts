import { timeText } from '#shared/api/fields.ts';
import { type Because, reason } from '#shared/domain/base/because.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { smaller, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { allocatableOf } from './node-room.ts';

/** Within ten minutes a node grows or shrinks by this factor at most, whatever it reports. */
const MAX_FACTOR = 2;
/** A new node has at most so many times what the largest of the others has, for as long. */
const MAX_NEW_FACTOR = 10;
const SETTLED_MS = 600_000;

interface Belief {
  node: Node;
  amounts: QueueAmounts;
  /** What was believed up to ten minutes ago: many small steps are one large one. */
  base: QueueAmounts;
  baseAt: Instant;
  seenAt: Instant;
  /** By type: what the node reports and is not believed yet. */
  readonly pending: Map<string, { readonly amount: Whole; readonly since: Instant }>;
}

/**
 * What nodes have, as far as they are believed. A node that reports a hundred times what it had would open the gates of
 * all queues, and one that reports nothing would have pods of queues evicted. A large change counts once it has lasted
 * for ten minutes, and is said meanwhile. What nodes report when a leader begins is believed: it knows nothing else.
 */
export class BelievedNodes {
  readonly #beliefs = new Map<string, Belief>();
  #firstAt: Instant | undefined;

  /** The object of `allocatableOf` where all of it is believed. */
  amountsOf(node: Node, now: Instant): QueueAmounts {
    this.#firstAt ??= now;
    const known = this.#beliefs.get(node.name);
    const belief = known === undefined || now - known.seenAt > SETTLED_MS ? this.#meet(node, now) : known;
    belief.seenAt = now;
    if (belief.node !== node || belief.pending.size > 0) this.#follow(belief, node, now);
    return belief.amounts;
  }

  /** What is not believed yet. */
  doubts(): readonly Because[] {
    return [...this.#beliefs.values()].flatMap(({ node, amounts, pending }) =>
      Array.from(pending, ([type, { amount, since }]) => {
        const text = (value: Whole): string => formatQuantity(queueQuantity(type, value));
        const until = timeText(since + SETTLED_MS);
        const facts = { node: node.name, type, reported: text(amount), believed: text(amounts.get(type) ?? 0), until };
        return DOUBTED(facts, facts);
      }),
    );
  }

  /** Forgets nodes that left long ago. */
  forgetOthers(now: Instant): void {
    for (const [name, { seenAt }] of this.#beliefs) if (now - seenAt > SETTLED_MS) this.#beliefs.delete(name);
  }

  #meet(node: Node, now: Instant): Belief {
    const reported = allocatableOf(node);
    const isFirst = now === this.#firstAt;
    const amounts = isFirst ? reported : new Map<string, Whole>();
    const belief = { node, amounts, base: amounts, baseAt: now, seenAt: now, pending: new Map() };
    if (!isFirst) this.#follow(belief, node, now);
    belief.base = belief.amounts;
    this.#beliefs.set(node.name, belief);
    return belief;
  }

  #follow(belief: Belief, node: Node, now: Instant): void {
    const reported = allocatableOf(node);
    if (now - belief.baseAt >= SETTLED_MS) Object.assign(belief, { base: belief.amounts, baseAt: now });
    const types = new Set([...belief.amounts.keys(), ...reported.keys(), ...belief.pending.keys()]);
    const next = new Map(
      Array.from(types, (type) => [type, this.#believe(belief, type, reported.get(type) ?? 0, now)]),
    );
    belief.node = node;
    belief.amounts = belief.pending.size === 0 ? reported : next;
  }

  #believe(belief: Belief, type: string, reported: Whole, now: Instant): Whole {
    const { pending, base, amounts } = belief;
    const had = base.get(type) ?? 0;
    const most = this.#mostOf(type, had, belief);
    if (most === undefined || (reported <= most && isNoLoss(had, reported))) {
      pending.delete(type);
      return reported;
    }
    const before = pending.get(type);
    const since = before !== undefined && isNear(before.amount, reported) ? before.since : now;
    if (now - since < SETTLED_MS) {
      pending.set(type, { amount: reported, since });
      return had === 0 ? smaller(most, reported) : (amounts.get(type) ?? 0);
    }
    pending.delete(type);
    belief.base = new Map([...base, [type, reported]]);
    return reported;
  }

  /** The most that is believed at once; `undefined` where nothing is known to compare with. */
  #mostOf(type: string, base: Whole, own: Belief): Whole | undefined {
    if (base > 0) return times(base, MAX_FACTOR);
    let largest: Whole = 0;
    for (const belief of this.#beliefs.values()) {
      const amount = belief === own ? 0 : (belief.amounts.get(type) ?? 0);
      if (amount > largest) largest = amount;
    }
    return largest > 0 ? times(largest, MAX_NEW_FACTOR) : undefined;
  }
}

function isNoLoss(base: Whole, reported: Whole): boolean {
  return times(reported, MAX_FACTOR) >= base;
}

function isNear(a: Whole, b: Whole): boolean {
  return a <= times(b, MAX_FACTOR) && b <= times(a, MAX_FACTOR);
}

interface Doubt {
  readonly node: string;
  readonly type: string;
  readonly reported: string;
  readonly believed: string;
  readonly until: string;
}

const DOUBTED = reason<Doubt>(
  'NodeChanged',
  ({ node, type, reported, believed, until }) =>
    `node ${node} reports ${reported} ${type}; ${believed} counts until ${until}`,
);

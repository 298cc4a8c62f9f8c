import { timeText } from '#shared/api/fields.ts';
import { type Because, reason } from '#shared/domain/base/because.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { larger, smaller, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import { type QueueAmounts, queueQuantity } from '#shared/domain/queue/queue.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { allocatableOf } from './node-room.ts';

/** Within an hour a node grows by this factor at most beyond the largest of the others, whatever it reports. */
const MAX_FACTOR = 2;
/** A new node has at most so many times what the largest of the others has. */
const MAX_NEW_FACTOR = 10;
/** A large loss counts once it has lasted for so long, and a growth up to what the largest of the others has. */
const SETTLED_MS = 600_000;
const GROWTH_MS = 3_600_000;

interface Belief {
  node: Node;
  amounts: QueueAmounts;
  /** What was believed up to an hour ago: many small steps are one large one. */
  base: QueueAmounts;
  baseAt: Instant;
  /** The same for losses; what was lost for good is not lost again. */
  low: Map<string, Whole>;
  seenAt: Instant;
  /** By type: what the node reports and is not believed yet. */
  readonly pending: Map<string, Pending>;
}

interface Pending {
  readonly amount: Whole;
  readonly since: Instant;
  /** It has lasted, and is more than any repetition makes believed. */
  readonly isSettled: boolean;
}

/** What the leader before this one believed. */
export interface FormerBelief {
  /** The most of each type of any one node. */
  readonly largest: QueueAmounts;
  /** When it last led. */
  readonly until: Instant;
}

/** Of which so many are kept, those of most nodes first: a node may report any number. */
const MAX_TYPES = 32;

/**
 * What nodes have, as far as they are believed. A node that reports a hundred times what it had would open the gates of
 * all queues, and one that reports nothing would have pods of queues evicted. A large loss counts once it has lasted for
 * ten minutes. So does a growth up to the size of another node; beyond that the node doubles once an hour, because no
 * repetition proves a report. All of it is said meanwhile. When a leader begins, a node that the one before knew counts
 * for as much as the largest that it believed, at once; only the first leader of a cluster believes what it sees.
 */
export class BelievedNodes {
  readonly #beliefs = new Map<string, Belief>();
  #firstAt: Instant | undefined;
  /** Until the first pass is over. */
  #former: FormerBelief | undefined;
  #largest: QueueAmounts | undefined;

  constructor(former?: FormerBelief) {
    this.#former = former;
  }

  /** The object of `allocatableOf` where all of it is believed. */
  amountsOf(node: Node, now: Instant): QueueAmounts {
    this.#firstAt ??= now;
    const known = this.#beliefs.get(node.name);
    const belief = known === undefined || now - known.seenAt > GROWTH_MS ? this.#meet(node, now) : known;
    belief.seenAt = now;
    if (belief.node !== node || belief.pending.size > 0) this.#follow(belief, node, now);
    return belief.amounts;
  }

  /** What is not believed yet. */
  doubts(): readonly Because[] {
    return [...this.#beliefs.values()].flatMap(({ node, amounts, baseAt, pending }) =>
      Array.from(pending, ([type, { amount, since, isSettled }]) => {
        const text = (value: Whole): string => formatQuantity(queueQuantity(type, value));
        const until = timeText(isSettled ? baseAt + GROWTH_MS : since + SETTLED_MS);
        const facts = { node: node.name, type, reported: text(amount), believed: text(amounts.get(type) ?? 0), until };
        return DOUBTED(facts, facts);
      }),
    );
  }

  /** The most of each type that is believed of one node. */
  largest(): QueueAmounts {
    return (this.#largest ??= largestOf([...this.#beliefs.values()].map(({ amounts }) => amounts)));
  }

  /** Ends a pass: forgets nodes that left long ago. */
  forgetOthers(now: Instant): void {
    this.#former = undefined;
    for (const [name, { seenAt }] of this.#beliefs) {
      if (now - seenAt <= GROWTH_MS) continue;
      this.#beliefs.delete(name);
      this.#largest = undefined;
    }
  }

  #meet(node: Node, now: Instant): Belief {
    const reported = allocatableOf(node);
    const isFirst = now === this.#firstAt && this.#former === undefined;
    const amounts = isFirst ? reported : new Map<string, Whole>();
    const belief: Belief = {
      node,
      amounts,
      base: amounts,
      low: new Map(amounts),
      baseAt: now,
      seenAt: now,
      pending: new Map(),
    };
    if (!isFirst) this.#follow(belief, node, now);
    this.#rebase(belief, now);
    this.#beliefs.set(node.name, belief);
    this.#largest = undefined;
    return belief;
  }

  #follow(belief: Belief, node: Node, now: Instant): void {
    const reported = allocatableOf(node);
    if (now - belief.baseAt >= GROWTH_MS) this.#rebase(belief, now);
    const types = new Set([...belief.amounts.keys(), ...reported.keys(), ...belief.pending.keys()]);
    const next = new Map(
      Array.from(types, (type) => [type, this.#believe(belief, type, reported.get(type) ?? 0, now)]),
    );
    belief.node = node;
    this.#largest = undefined;
    belief.amounts = belief.pending.size === 0 ? reported : next;
  }

  #rebase(belief: Belief, now: Instant): void {
    Object.assign(belief, { base: belief.amounts, low: new Map(belief.amounts), baseAt: now });
  }

  #believe(belief: Belief, type: string, reported: Whole, now: Instant): Whole {
    const { pending, low } = belief;
    const most = this.#mostOf(type, reported, belief);
    if (most === undefined || (reported <= most && isNoLoss(low.get(type) ?? 0, reported))) {
      pending.delete(type);
      return reported;
    }
    const since = sinceOf(pending.get(type), reported, now);
    if (now - since < SETTLED_MS) {
      pending.set(type, { amount: reported, since, isSettled: false });
      return belief.base.has(type) ? (belief.amounts.get(type) ?? 0) : smaller(most, reported);
    }
    const believed = smaller(reported, larger(most, this.#largestOther(type, belief)));
    if (believed < reported) pending.set(type, { amount: reported, since, isSettled: true });
    else pending.delete(type);
    low.set(type, believed);
    return believed;
  }

  /** The most that is believed at once; `undefined` where nothing is known to compare with. */
  #mostOf(type: string, reported: Whole, own: Belief): Whole | undefined {
    const base = own.base.get(type) ?? 0;
    const most = larger(own.amounts.get(type) ?? 0, times(base, MAX_FACTOR));
    if (base > 0 || reported <= most) return most;
    const before = this.#former?.largest.get(type) ?? 0;
    // How the others look depends on the order in which a leader meets them.
    if (this.#isOld(own.node)) return before > 0 ? larger(most, before) : undefined;
    const largest = larger(this.#largestOther(type, own), before);
    return largest > 0 ? larger(most, times(largest, MAX_NEW_FACTOR)) : undefined;
  }

  /** Whether the leader before this one has known the node. */
  #isOld({ createdAt }: Node): boolean {
    return this.#former !== undefined && (createdAt === undefined || createdAt < this.#former.until);
  }

  #largestOther(type: string, own: Belief): Whole {
    let largest: Whole = 0;
    for (const belief of this.#beliefs.values()) {
      const amount = belief === own ? 0 : (belief.amounts.get(type) ?? 0);
      if (amount > largest) largest = amount;
    }
    return largest;
  }
}

function largestOf(nodes: readonly QueueAmounts[]): QueueAmounts {
  const most = new Map<string, Whole>();
  const counts = new Map<string, number>();
  for (const [type, amount] of nodes.flatMap((amounts) => [...amounts])) {
    most.set(type, larger(most.get(type) ?? 0, amount));
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  const common = [...counts].toSorted(([a, left], [b, right]) => right - left || compareTexts(a, b));
  return new Map(common.slice(0, MAX_TYPES).map(([type]) => [type, most.get(type) ?? 0]));
}

function sinceOf(before: Pending | undefined, reported: Whole, now: Instant): Instant {
  return before !== undefined && isNear(before.amount, reported) ? before.since : now;
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

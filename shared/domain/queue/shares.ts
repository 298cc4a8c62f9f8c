import { finish, type Steps } from '#shared/domain/base/steps.ts';
import { addTo, amountAt, larger, minus, plus, smaller, type Whole } from '#shared/domain/quantity/whole.ts';
import type { QueueAmounts } from './queue.ts';
import { childrenAt, parentAt, queueAt, type QueueTree } from './queue-tree.ts';
import { addAmounts, type QueueUsage, usedBy } from './usage.ts';
import { fillToLevel, shareAt, type ShareBounds } from './water-level.ts';

/** The amounts to share and the requests of each queue's pods, running or waiting. */
export interface ShareQuestion {
  readonly tree: QueueTree;
  /** Only these types are shared; any other is bounded only by maximums. */
  readonly total: QueueAmounts;
  /** By queue name, for its own pods. */
  readonly requested: ReadonlyMap<string, QueueAmounts>;
  /**
   * What happens to the part of a guarantee that a queue does not request: `Kept` (default) leaves it in what the queue
   * deserves; `Lent` divides it among the queues that need it, so that no room is idle while its owner needs none.
   */
  readonly idleGuarantees?: 'Kept' | 'Lent';
}

/** Shares that are kept up to date: `setRequested` records a change, `refreshShares` applies it. */
export interface ShareState {
  readonly tree: QueueTree;
  /** By resource type. */
  readonly columns: ReadonlyMap<string, ShareColumn>;
}

/** One resource type, all lists by number of the queue. */
interface ShareColumn {
  readonly type: string;
  readonly isLending: boolean;
  readonly floors: readonly Whole[];
  /** The requests of its own pods. */
  readonly own: Whole[];
  readonly shares: ShareBounds[];
  /** The sum over the children. */
  readonly childCeilings: Whole[];
  readonly deserved: Whole[];
  /** 1 if the children's shares have to be recomputed. */
  readonly stale: Uint8Array;
}

const QUEUES_PER_STEP = 500;

/** What each queue deserves, by name. See `createShares`. */
export function deservedShares(question: ShareQuestion): ReadonlyMap<string, QueueAmounts> {
  const state = finish(createShares(question));
  return new Map(question.tree.queues.map(({ name }, index) => [name, deservedOf(state, index)]));
}

/**
 * Divides the total level by level: the children of a queue share what it deserves, type by type, independently of
 * other types. A queue gets at least its guarantee, even if it requests less, and at most what it requests within its
 * maximum; a parent without its own guarantee has those of its children. Pods of a queue that has children come first
 * there.
 */
export function* createShares(question: ShareQuestion): Steps<ShareState> {
  const { tree, total, requested } = question;
  const columns = new Map<string, ShareColumn>();
  for (const [type, amount] of total) {
    const column = createColumn(question, type, amount);
    columns.set(type, column);
    yield;
  }
  const state = { tree, columns };
  let count = 0;
  for (const [index, amounts] of byIndex(tree, requested)) {
    setRequested(state, index, amounts);
    count += 1;
    if (count % QUEUES_PER_STEP === 0) yield;
  }
  yield* refreshShares(state);
  return state;
}

/** Pods of queues that are not there count for the root, with its own pods. */
function byIndex(tree: QueueTree, requested: ShareQuestion['requested']): ReadonlyMap<number, QueueAmounts> {
  const found = new Map<number, QueueAmounts>();
  for (const [name, amounts] of requested) {
    const index = tree.indexes.get(name) ?? 0;
    const before = found.get(index);
    found.set(index, before === undefined ? amounts : sumOfTwo(before, amounts));
  }
  return found;
}

function sumOfTwo(left: QueueAmounts, right: QueueAmounts): QueueAmounts {
  const sum = new Map(left);
  addAmounts(sum, right);
  return sum;
}

/** Records what the queue's own pods request now, in time proportional to its depth in the tree. */
export function setRequested({ tree, columns }: ShareState, index: number, amounts: QueueAmounts): void {
  for (const column of columns.values()) {
    const amount = amounts.get(column.type) ?? 0;
    if (column.own[index] === amount) continue;
    column.own[index] = amount;
    column.stale[index] = 1;
    followBounds(tree, column, index);
  }
}

/** Recomputes what has changed since the last time. */
export function* refreshShares({ tree, columns }: ShareState): Steps<void> {
  for (const column of columns.values()) {
    for (let index = 0; index < tree.queues.length; index += 1) {
      if (column.stale[index] === 1) fillChildren(tree, column, index);
      if (index % QUEUES_PER_STEP === QUEUES_PER_STEP - 1) yield;
    }
  }
}

/** What a queue deserves, of each shared type. */
export function deservedOf({ columns }: ShareState, index: number): QueueAmounts {
  const amounts = new Map<string, Whole>();
  for (const { type, deserved } of columns.values()) amounts.set(type, amountAt(deserved, index));
  return amounts;
}

/**
 * The tree with what each queue deserves in place of its guarantee, for the types with more requests than there is: of
 * the other types there is enough for all, and no queue has to give any. `usage` shows in which types a queue has too
 * much.
 */
export function treeOfShares({ tree, columns }: ShareState, usage: QueueUsage): QueueTree {
  const scarce = [...columns.values()].filter(({ own, childCeilings, deserved }) => {
    return plus(amountAt(own, 0), amountAt(childCeilings, 0)) > amountAt(deserved, 0);
  });
  const queues = tree.queues.map((queue, index) => ({
    ...queue,
    guaranteed: new Map(scarce.map(({ type, deserved }) => [type, amountAt(deserved, index)])),
  }));
  const isContended = ({ type, deserved }: ShareColumn): boolean =>
    deserved.some((amount, index) => index > 0 && usedBy(usage, index, type) > amount);
  const contended = new Set(scarce.filter(isContended).map(({ type }) => type));
  return { ...tree, queues, floor: 'share', contended };
}

/** The guaranteed amount of one type: the queue's own guarantee, else the sum of its children's. */
function guaranteesOf(tree: QueueTree, type: string): readonly Whole[] {
  const floors: Whole[] = tree.queues.map(() => 0);
  for (let index = floors.length - 1; index >= 0; index -= 1) {
    const ofChildren = childrenAt(tree, index).reduce<Whole>((sum, child) => plus(sum, amountAt(floors, child)), 0);
    floors[index] = queueAt(tree, index).guaranteed.get(type) ?? ofChildren;
  }
  return floors;
}

function createColumn({ tree, idleGuarantees }: ShareQuestion, type: string, total: Whole): ShareColumn {
  const zeros = tree.queues.map((): Whole => 0);
  const column: ShareColumn = {
    type,
    isLending: idleGuarantees === 'Lent',
    floors: guaranteesOf(tree, type),
    own: [...zeros],
    shares: tree.queues.map(({ weight }) => ({ weight, floor: 0, ceiling: 0 })),
    childCeilings: [...zeros],
    deserved: [...zeros],
    stale: new Uint8Array(zeros.length).fill(1),
  };
  for (let index = zeros.length - 1; index >= 0; index -= 1) followBounds(tree, column, index);
  const most = tree.queues[0]?.max.get(type);
  column.deserved[0] = most === undefined ? total : smaller(total, most);
  return column;
}

/** Brings the bounds of a queue and those above it up to date, as far as they change. */
function followBounds(tree: QueueTree, column: ShareColumn, index: number): void {
  for (let at = index; at >= 0; at = parentAt(tree, at)) {
    const known = shareAt(column.shares, at);
    const { floor, ceiling } = boundsAt(tree, column, at);
    if (ceiling === known.ceiling && floor === known.floor) return;
    column.shares[at] = { weight: known.weight, floor, ceiling };
    const parent = parentAt(tree, at);
    if (parent < 0) return;
    column.stale[parent] = 1;
    addTo(column.childCeilings, parent, minus(ceiling, known.ceiling));
  }
}

function boundsAt({ queues }: QueueTree, column: ShareColumn, index: number): Pick<ShareBounds, 'floor' | 'ceiling'> {
  const asked = plus(amountAt(column.own, index), amountAt(column.childCeilings, index));
  const most = queues[index]?.max.get(column.type);
  const wanted = most === undefined ? asked : smaller(asked, most);
  const floor = amountAt(column.floors, index);
  return column.isLending
    ? { floor: smaller(floor, wanted), ceiling: wanted }
    : { floor, ceiling: larger(wanted, floor) };
}

function fillChildren(tree: QueueTree, column: ShareColumn, index: number): void {
  column.stale[index] = 0;
  const below = childrenAt(tree, index);
  const total = larger(minus(amountAt(column.deserved, index), amountAt(column.own, index)), 0);
  const amounts = fillToLevel(
    below.map((child) => shareAt(column.shares, child)),
    total,
  );
  for (const [at, child] of below.entries()) {
    const amount = amountAt(amounts, at);
    if (column.deserved[child] === amount) continue;
    column.deserved[child] = amount;
    column.stale[child] = 1;
  }
}

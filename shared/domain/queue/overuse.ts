import { type Because, reason } from '#shared/domain/base/because.ts';
import type { Steps } from '#shared/domain/base/steps.ts';
import { formatQuantity } from '#shared/domain/quantity/format-quantity.ts';
import { larger, minus, type Whole } from '#shared/domain/quantity/whole.ts';
import type { RoomState } from './make-room.ts';
import { queueQuantity } from './queue.ts';
import { compareGoingFirst, type RunningPod, sparedRank } from './queue-pod.ts';
import { pathOf, queueAt, type QueueTree } from './queue-tree.ts';
import { deservedOf, type ShareState } from './shares.ts';
import { aboveMaximum, AmountsByQueue, type QueueExcess, type QueueUsage, sumUsage, usedBy } from './usage.ts';
import { type VictimCandidate, type VictimSearch, smallestSet } from './victim-set.ts';

/** A queue that uses more than its maximum, and the pods to evict so that it no longer does. */
export interface Overuse {
  readonly queue: string;
  /** In the order of eviction; empty if budgets protect too many of its pods. */
  readonly victims: readonly PodOnNode[];
  readonly because: Because;
}

export interface PodOnNode {
  readonly pod: RunningPod;
  readonly node: string;
}

const WORK = 100_000;
const PODS_PER_STEP = 5_000;

/** The queues, except the root, that use more than their maximum of some type. */
export function overusedQueues(tree: QueueTree, usage: QueueUsage): readonly number[] {
  return tree.queues.flatMap((_, index) => (index > 0 && excessOver(tree, usage, index).length > 0 ? [index] : []));
}

/** By how much a queue uses more than its maximum, as a sentence; `undefined` if it does not. */
export function whyOverused(tree: QueueTree, usage: QueueUsage, index: number): string | undefined {
  const excess = index > 0 ? excessOver(tree, usage, index) : [];
  return excess.length === 0 ? undefined : sentence({ queue: queueAt(tree, index).name, excess });
}

/**
 * What ends the overuse of each queue: a smallest set of its own pods, within budgets (S4-3, S4-10). The deepest queues
 * come first, so that their evictions count for those above. Of several queues below one that is over its maximum only
 * those give that hold more than they deserve: otherwise the pods of one tenant, grown in place, would evict those of
 * another, also where its own cannot be evicted.
 */
export function* endOveruse(
  state: RoomState,
  queues: readonly number[],
  shares?: ShareState,
): Steps<readonly Overuse[]> {
  const found: Overuse[] = [];
  const gone = new Set<string>();
  const own = new AmountsByQueue();
  for (const [name, amounts] of state.own) own.add(name, amounts);
  // No pod on a node goes for one that has none.
  for (const [name, amounts] of state.unplaced ?? []) own.add(name, amounts, -1);
  for (const index of queues.toSorted((a, b) => b - a)) {
    const pods = yield* podsBelow(state, index, gone);
    const overuse = overuseOf(state, index, { usage: sumUsage(state.tree, own.sums()), pods, shares });
    if (overuse === undefined) continue;
    found.push(overuse);
    for (const { pod } of overuse.victims) {
      gone.add(pod.uid);
      own.add(pod.queue, new Map(Array.from(pod.requests, ([type, amount]) => [type, minus(0, amount)])));
    }
  }
  return found;
}

function* podsBelow({ tree, nodes }: RoomState, index: number, gone: ReadonlySet<string>): Steps<readonly PodOnNode[]> {
  const names = new Set(tree.queues.flatMap(({ name }, each) => (pathOf(tree, each).includes(index) ? [name] : [])));
  const below: PodOnNode[] = [];
  let count = 0;
  for (const { name: node, pods } of nodes) {
    for (const pod of pods) {
      // Its DaemonSet would create it again.
      if (names.has(pod.queue) && !gone.has(pod.uid) && !pod.isDaemonSet) below.push({ pod, node });
    }
    count += pods.length;
    if (count < PODS_PER_STEP) continue;
    count = 0;
    yield;
  }
  return below;
}

interface Used {
  readonly usage: QueueUsage;
  readonly pods: readonly PodOnNode[];
  readonly shares: ShareState | undefined;
}

function overuseOf({ tree, budgets }: RoomState, index: number, { usage, pods, shares }: Used): Overuse | undefined {
  const excess = excessOver(tree, usage, index);
  if (excess.length === 0) return undefined;
  const { name: queue } = queueAt(tree, index);
  const nodes = new Map(pods.map(({ pod, node }) => [pod, node]));
  const search = {
    candidates: [...nodes.keys()].sort(compareSparedLast).map((pod): VictimCandidate => {
      return { pod, profile: { gives: excess.map(([type]) => pod.requests.get(type) ?? 0), costs: [] } };
    }),
    budgets,
    needs: excess.map(([, amount]) => amount),
    reserves: [],
    maxSize: Infinity,
    accepts: () => true,
    areProfilesEqual: false,
    work: { stepsLeft: WORK },
  };
  const names = new Set(pods.map(({ pod }) => pod.queue));
  const chosen =
    shares === undefined
      ? smallestSet(search)
      : fairSet(search, new Map(Array.from(names, (name) => [name, spareOf(name, { tree, usage, shares, excess })])));
  const victims = (chosen ?? []).toSorted(compareSparedLast).map((pod) => ({ pod, node: nodes.get(pod) as string }));
  const because = (chosen === undefined ? KEPT : OVERUSED)({ queue, excess }, { queue });
  return { queue, victims, because };
}

interface OwnShare {
  readonly tree: QueueTree;
  readonly usage: QueueUsage;
  readonly shares: ShareState;
  readonly excess: QueueExcess;
}

/** What a queue holds above what it deserves, of each type. */
function spareOf(name: string, { tree, usage, shares, excess }: OwnShare): readonly Whole[] {
  const index = tree.indexes.get(name) ?? 0;
  const deserved = deservedOf(shares, index);
  return excess.map(([type]) => larger(0, minus(usedBy(usage, index, type), deserved.get(type) ?? 0)));
}

/** Pods that leave each queue what it deserves; if they are too large for that, those of the queues that hold more. */
function fairSet(search: VictimSearch, spare: ReadonlyMap<string, readonly Whole[]>): ReturnType<typeof smallestSet> {
  const first = new Map(Array.from(spare.keys(), (name, at) => [name, at * search.needs.length]));
  const candidates = search.candidates.map(({ pod, profile: { gives } }): VictimCandidate => {
    const costs = gives.map((amount, at) => [(first.get(pod.queue) ?? 0) + at, amount] as const);
    return { pod, profile: { gives, costs } };
  });
  const isAbove = ({ pod }: VictimCandidate): boolean => spare.get(pod.queue)?.some((amount) => amount > 0) === true;
  return (
    smallestSet({ ...search, candidates, reserves: [...spare.values()].flat() }) ??
    smallestSet({ ...search, candidates: search.candidates.filter(isAbove) })
  );
}

function compareSparedLast(a: RunningPod, b: RunningPod): number {
  return sparedRank(a) - sparedRank(b) || compareGoingFirst(a, b);
}

function excessOver(tree: QueueTree, usage: QueueUsage, index: number): QueueExcess {
  const queue = queueAt(tree, index);
  return aboveMaximum(queue, queue.max.keys(), (type) => usedBy(usage, index, type));
}

interface Said {
  readonly queue: string;
  readonly excess: QueueExcess;
}

const OVERUSED = reason<Said>('Overuse', sentence);
const KEPT = reason<Said>('OveruseKept', (said) => `${sentence(said)}, and budgets keep its pods`);

function sentence({ queue, excess }: Said): string {
  const amounts = excess.map(([type, amount]) => `${formatQuantity(queueQuantity(type, amount))} ${type}`);
  return `queue ${queue} uses ${amounts.join(' and ')} more than its maximum`;
}

import { isDeepStrictEqual } from 'node:util';
import { finish } from '#shared/domain/base/steps.ts';
import { larger, minus, plus, smaller, type Whole } from '#shared/domain/quantity/whole.ts';
import { type Allocation, type PassSnapshot, preempt, preprocess } from '#shared/domain/queue/pass-stages.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';

/** What one pass breaks, each law by its name with the type and the queue. */
export function passBreaches(snapshot: PassSnapshot): readonly string[] {
  const before = structuredClone(snapshot);
  const first = finish(preprocess(snapshot));
  const second = finish(preempt(snapshot, first));
  const isRepeatable =
    isDeepStrictEqual(finish(preprocess(snapshot)), first) &&
    isDeepStrictEqual(finish(preempt(snapshot, first)), second) &&
    isDeepStrictEqual(snapshot, before);
  const ofTypes = [...snapshot.total.keys()].flatMap((type) => [
    ...preprocessBreaches(snapshot, first, type),
    ...preemptBreaches(snapshot, { first, second }, type),
  ]);
  return [...(isRepeatable ? [] : ['a stage changes its snapshot or decides differently']), ...ofTypes];
}

type First = ReturnType<typeof preprocess> extends Generator<unknown, infer Result> ? Result : never;
type Second = ReturnType<typeof preempt> extends Generator<unknown, infer Result> ? Result : never;

function named(laws: readonly (readonly [holds: boolean, law: string])[], type: string): readonly string[] {
  return laws.filter(([holds]) => !holds).map(([, law]) => `${law}: ${type}`);
}

function preprocessBreaches(snapshot: PassSnapshot, first: First, type: string): readonly string[] {
  const { tree, total } = snapshot;
  const { lent, overused, usage, used } = first;
  const asked = askedOf(snapshot, type);
  const share = (at: number): Whole => deservedOf(lent, at).get(type) ?? 0;
  const isOver = (at: number): boolean =>
    [...(tree.queues[at] as Queue).max].some(([of, max]) => usedBy(used, at, of) > max);
  return named(
    [
      [share(0) === rootTotal(tree, total.get(type) ?? 0, type), 'preprocess: the root has the total'],
      [
        tree.queues.every((_, at) => {
          const there = smaller(share(at), asked.all(at));
          const below = childrenSum(tree, at, share);
          return tree.children[at]?.length === 0 || below === larger(minus(there, asked.own(at)), asked.sure(at));
        }),
        'preprocess: the shares add up to the total as far as anybody asks for it',
      ],
      [
        tree.queues.every((_, at) => usedBy(used, at, type) <= usedBy(usage, at, type)),
        'preprocess: what is on nodes was let in',
      ],
      [
        tree.queues.every((_, at) => at === 0 || overused.includes(at) === isOver(at)),
        'preprocess: the queues above their maximum give back, and no others',
      ],
    ],
    type,
  );
}

interface Results {
  readonly first: First;
  readonly second: Second;
}

function preemptBreaches(snapshot: PassSnapshot, { first, second }: Results, type: string): readonly string[] {
  const { tree, total, isReclaiming } = snapshot;
  const { allocation, seeking, decision } = second;
  const most = rootTotal(tree, total.get(type) ?? 0, type);
  const asked = askedOf(snapshot, type);
  const share = (at: number): Whole => deservedOf(first.lent, at).get(type) ?? 0;
  const held = (at: number): Whole => usedBy(first.usage, at, type);
  const preempting = (at: number): Whole => usedBy(allocation.preempting, at, type);
  const allocated = (at: number): Whole => usedBy(allocation.allocated, at, type);
  const wanted = minus(usedBy(decision.usage, 0, type), total.get(type) ?? 0);
  const every = (law: (at: number) => boolean): boolean => tree.queues.every((_, at) => law(at));
  const isLeaf = (at: number): boolean => tree.children[at]?.length === 0;
  const isRootOrLeaf = (at: number): boolean => at === 0 || isLeaf(at);
  const below = (at: number): Whole => childrenSum(tree, at, (child) => parts(allocation, child, type));
  return named(
    [
      [isTotal(allocation, type, most), 'preempt: allocated and preempting are the total'],
      [
        below(0) === larger(minus(smaller(most, asked.all(0)), asked.own(0)), asked.sure(0)) && below(0) <= most,
        'preempt: the queues add up to the total as far as anybody asks for it',
      ],
      [
        every(
          (at) =>
            isRootOrLeaf(at) || below(at) === larger(minus(parts(allocation, at, type), asked.own(at)), asked.sure(at)),
        ),
        'preempt: the queues below a queue add up to it',
      ],
      [every((at) => allocated(at) >= 0 && preempting(at) >= 0), 'preempt: nothing is negative'],
      [preempting(0) <= larger(0, wanted), 'preempt: no more is freed than is above the total'],
      [isReclaiming || preempting(0) === 0, 'preempt: without reclaim nothing is preempting'],
      [seeking.length > 0 || preempting(0) === 0, 'preempt: only what pods wait for is preempting'],
      [
        every((at) => at === 0 || !isLeaf(at) || held(at) <= share(at) || preempting(at) === 0),
        'preempt: a giver takes nothing',
      ],
      [
        every((at) => held(at) <= share(at) || allocated(at) < held(at)),
        'preempt: what a giver may hold is lowered at once',
      ],
      [
        every((at) => preempting(at) === 0 || !isLeaf(at) || allocated(at) >= held(at)),
        'preempt: a taker keeps what it holds',
      ],
    ],
    type,
  );
}

function rootTotal(tree: QueueTree, total: Whole, type: string): Whole {
  const most = tree.queues[0]?.max.get(type);
  return most === undefined ? total : smaller(most, total);
}

/** Both parts of a queue. */
function parts({ allocated, preempting }: Allocation, index: number, type: string): Whole {
  return plus(usedBy(allocated, index, type), usedBy(preempting, index, type));
}

function isTotal(allocation: Allocation, type: string, total: Whole): boolean {
  return parts(allocation, 0, type) === total;
}

function childrenSum({ children }: QueueTree, index: number, amountOf: (at: number) => Whole): Whole {
  return (children[index] ?? []).reduce<Whole>((sum, child) => plus(sum, amountOf(child)), 0);
}

/** What is asked for below each queue, within the maximums, worked out from the leaves without any share. */
function askedOf({ tree, requested }: PassSnapshot, type: string) {
  const own = (at: number): Whole => {
    const names = [...requested].filter(([name]) => (tree.indexes.get(name) ?? 0) === at);
    return names.reduce<Whole>((sum, [, amounts]) => plus(sum, amounts.get(type) ?? 0), 0);
  };
  const all = (at: number): Whole => {
    const asked = plus(own(at), childrenSum(tree, at, all));
    const max = tree.queues[at]?.max.get(type);
    return max === undefined ? asked : smaller(asked, max);
  };
  const floor = (at: number): Whole => smaller(tree.queues[at]?.guaranteed.get(type) ?? 0, all(at));
  /** What the children get although the queue's own pods come first: their guarantees, as far as they ask for them. */
  const sure = (at: number): Whole => childrenSum(tree, at, floor);
  return { own, all, sure };
}

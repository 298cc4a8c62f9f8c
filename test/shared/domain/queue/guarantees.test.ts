import fc from 'fast-check';
import { expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { larger, minus, plus, smaller, type Whole } from '#shared/domain/quantity/whole.ts';
import { type PassSnapshot, preempt, preprocess } from '#shared/domain/queue/pass-stages.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { type QueueUsage, sumUsage, usedBy } from '#shared/domain/queue/usage.ts';
import { ownUsage, running } from './builders.ts';
import { passSnapshots } from './pass-scenes.ts';
import { makeRoom, room } from './rooms.ts';

/** Longer than any delay. */
const LONG_AGO = -86_400_000;

/** The pods of a queue, of one of each type as long as it has some. */
function podsOf(queue: string, amounts: QueueAmounts): readonly RunningPod[] {
  const pods = Math.max(0, ...Array.from(amounts.values(), Number));
  return Array.from({ length: pods }, (_, index) => {
    const requests = new Map(Array.from(amounts, ([type, amount]) => [type, amount > index ? 1 : 0]));
    return running(`${queue}-${index}`, queue, { requests });
  });
}

/** Which pods go for those that seek room, and what each queue loses by that for pods of other queues. */
function reclaimed(snapshot: PassSnapshot) {
  const { tree, total, used } = snapshot;
  const { floors, seeking } = finish(preempt(snapshot, finish(preprocess(snapshot))));
  const pods = Array.from(used, ([queue, amounts]) => podsOf(queue, amounts)).flat();
  const own = ownUsage(pods);
  const state = { tree: floors, own, sought: new Map(), nodes: [room('node', total, pods)], budgets: new Map() };
  const steps = makeRoom(
    state,
    seeking.map((pod) => ({ pod: { ...pod, waitingSince: LONG_AGO }, isGated: true, nominatedTo: undefined })),
  );
  const victims = steps.flatMap(({ step }) => (step.kind === 'Evict' ? step.victims : []));
  /** What moves between queues below a queue stays its own. */
  const losses = steps.map(({ seeker: { pod }, step }) => ({
    above: pathOf(tree, tree.indexes.get(pod.queue) ?? 0),
    lost: sumUsage(tree, ownUsage(step.kind === 'Evict' ? step.victims : [])),
  }));
  const lostBy = (index: number, type: string): Whole =>
    losses.reduce<Whole>(
      (sum, { above, lost }) => (above.includes(index) ? sum : plus(sum, usedBy(lost, index, type))),
      0,
    );
  return { before: sumUsage(tree, own), lostBy, victims };
}

/** Queues use more of it, or were promised more, than there is. Of other types each has its guarantee when it needs it. */
function isShort({ tree, total }: PassSnapshot, before: QueueUsage, type: string): boolean {
  const needs = (index: number): Whole => {
    const below = (tree.children[index] ?? []).map((child) => minus(needs(child), usedBy(before, child, type)));
    const own = below.reduce<Whole>((sum, more) => plus(sum, more), usedBy(before, index, type));
    return index === 0 ? own : larger(own, tree.queues[index]?.guaranteed.get(type) ?? 0);
  };
  return needs(0) > (total.get(type) ?? 0);
}

/** The queues that end below their guarantee of a type that is short, and were not as far below it before. */
function broughtBelow(snapshot: PassSnapshot, { before, lostBy }: ReturnType<typeof reclaimed>): readonly string[] {
  const { tree, total } = snapshot;
  const short = [...total.keys()].filter((type) => isShort(snapshot, before, type));
  return short.flatMap((type) =>
    tree.queues.flatMap(({ name, guaranteed }, index) => {
      const [had, lost] = [usedBy(before, index, type), lostBy(index, type)];
      const isBelow = lost > 0 && minus(had, lost) < smaller(had, guaranteed.get(type) ?? 0);
      return isBelow ? [`${name}: ${type}`] : [];
    }),
  );
}

test('of many trees, reclaim by shares or by guarantees brings no queue below its guarantee of a type that is short', () => {
  let went = 0;
  const property = fc.property(passSnapshots, (snapshot) => {
    const outcome = reclaimed({ ...snapshot, isReclaiming: true });
    went += outcome.victims.length;
    expect(broughtBelow(snapshot, outcome)).toEqual([]);
  });
  fc.assert(property, { seed: 20_261_129, numRuns: 2_000 });
  expect(went).toBeGreaterThan(200);
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { RoomNode, SeekerStep } from '#shared/domain/queue/make-room.ts';
import type { QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { RunningPod } from '#shared/domain/queue/queue-pod.ts';
import { pathOf } from '#shared/domain/queue/queue-tree.ts';
import { type Scene, scenes } from './room-scenes.ts';
import { makeRoom } from './rooms.ts';

type Steps = readonly SeekerStep[];

const amountOf = (amounts: QueueAmounts): number => Number(amounts.get('cpu') ?? 0);
const sumOf = (pods: readonly { readonly requests: QueueAmounts }[]): number =>
  pods.reduce((all, { requests }) => all + amountOf(requests), 0);
const takersIn = (steps: Steps) => steps.map(({ seeker }) => seeker.pod);

function victimsIn(steps: Steps): readonly RunningPod[] {
  return steps.flatMap(({ step }) => (step.kind === 'Evict' ? step.victims : []));
}

/** The steps by which pods get room there. */
function stepsTo({ name }: RoomNode, steps: Steps): Steps {
  return steps.filter(({ step }) => step.kind !== 'None' && step.node === name);
}

/** Those of the queues that end below their guarantees, and were not as far below before. */
function broughtBelow({ state: { tree, own } }: Scene, steps: Steps): readonly string[] {
  return tree.queues.flatMap(({ name, guaranteed }, queue) => {
    const isBelow = (other: string): boolean => pathOf(tree, tree.indexes.get(other) ?? 0).includes(queue);
    const before = [...own].reduce((all, [other, amounts]) => all + (isBelow(other) ? amountOf(amounts) : 0), 0);
    const after = steps.reduce((all, step) => all + changeBy(step, isBelow), before);
    return after < Math.min(before, amountOf(guaranteed)) ? [name] : [];
  });
}

/** A queue above both may lose by it: what moves between queues below it stays its own (S2-10). */
function changeBy(found: SeekerStep, isBelow: (queue: string) => boolean): number {
  const { pod, isGated } = found.seeker;
  const lost = sumOf(victimsIn([found]).filter(({ queue }) => isBelow(queue)));
  if (!isBelow(pod.queue)) return -lost;
  return found.step.kind === 'None' || !isGated ? 0 : Math.max(0, amountOf(pod.requests) - lost);
}

/** Holds for what is found in each of many scenes; returns how many pods go in all of them. */
function holds(law: (scene: Scene, steps: Steps) => void): number {
  let went = 0;
  const property = fc.property(scenes, (scene) => {
    const steps = makeRoom(scene.state, scene.seekers);
    went += victimsIn(steps).length;
    law(scene, steps);
  });
  fc.assert(property, { seed: 20_261_126, numRuns: 2_000 });
  return went;
}

describe('of many clusters', () => {
  test('no pod goes twice, and each goes from the node for which room is made (S2-24)', () => {
    const went = holds(({ state }, steps) => {
      const victims = victimsIn(steps);
      expect(new Set(victims).size).toBe(victims.length);
      for (const node of state.nodes) {
        const there = victimsIn(stepsTo(node, steps));
        expect(there.filter((victim) => !node.pods.includes(victim))).toEqual([]);
      }
    });
    expect(went).toBeGreaterThan(500);
  });

  test('no queue is brought below its guarantee (S2-10)', () => {
    holds((scene, steps) => expect(broughtBelow(scene, steps)).toEqual([]));
  });

  test('no budget lets more pods go than it has', () => {
    holds(({ state }, steps) => {
      const victims = victimsIn(steps);
      for (const [name, allowed] of state.budgets) {
        expect(victims.filter(({ budgets }) => budgets.includes(name)).length).toBeLessThanOrEqual(allowed);
      }
    });
  });

  test('no node is promised more than it has without those that leave and go', () => {
    holds(({ state }, steps) => {
      for (const node of state.nodes) {
        const here = stepsTo(node, steps);
        expect(sumOf(takersIn(here))).toBeLessThanOrEqual(amountOf(node.free) + sumOf(victimsIn(here)));
      }
    });
  });

  test('room that is said to be there holds no pod that leaves', () => {
    holds(({ state }, steps) => {
      for (const node of state.nodes) {
        const here = stepsTo(node, steps);
        const last = here.findLastIndex(({ step }) => step.kind === 'Room');
        const promised = sumOf(takersIn(here.slice(0, last + 1)));
        if (last >= 0) expect(promised).toBeLessThanOrEqual(amountOf(node.free) - amountOf(node.leaving));
      }
    });
  });

  test('nobody goes for a pod that has room somewhere', () => {
    holds(({ state }, [first]) => {
      if (first === undefined || first.step.kind !== 'Evict') return;
      const { pod } = first.seeker;
      const rooms = state.nodes.map(({ free, promised }) => {
        return (
          amountOf(free) - sumOf(promised.filter(({ uid, priority }) => uid !== pod.uid && priority >= pod.priority))
        );
      });
      expect(Math.max(...rooms)).toBeLessThan(amountOf(pod.requests));
    });
  });
});

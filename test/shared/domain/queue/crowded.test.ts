import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { makeRoomInSteps, type RoomNode, type RoomState } from '#shared/domain/queue/make-room.ts';
import { type PassSnapshot, preempt, preprocess } from '#shared/domain/queue/pass-stages.ts';
import type { Queue } from '#shared/domain/queue/queue.ts';
import type { RunningPod, WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { cpu, node, ownUsage, queue, running, waiting } from './builders.ts';

/** Half of what the two share is guaranteed to the lender; the nodes have much more than both may use. */
const QUEUES = [
  queue('shared', undefined, { max: cpu(4) }),
  queue('lender', 'shared', { guaranteed: cpu(2) }),
  queue('borrower', 'shared'),
];
const BORROWED = ['a', 'b', 'c', 'd'].map((name) => running(name, 'borrower'));
const WAITING = ['p', 'q', 'r'].map((name) => waiting(name, 'lender'));

interface Given {
  readonly queues?: readonly Queue[];
  readonly pods?: readonly RunningPod[];
  readonly waiting?: readonly WaitingPod[];
  readonly isReclaiming?: boolean;
}

function pass({ queues = QUEUES, pods = BORROWED, waiting: pending = WAITING, isReclaiming = true }: Given = {}) {
  const tree = createQueueTree(queues);
  const used = ownUsage(pods);
  const amounts = { total: cpu(100), admitted: used, used, requested: ownUsage([...pods, ...pending]) };
  const snapshot: PassSnapshot = { tree, ...amounts, waiting: pending, reclaimBy: 'Guarantees', isReclaiming };
  const { atOnce, seeking, crowded, decision } = finish(preempt(snapshot, finish(preprocess(snapshot))));
  const names = (of: readonly WaitingPod[]) => of.map(({ name }) => name);
  return { in: names(atOnce), seeks: names(seeking), stays: names(decision.held), crowded: [...crowded] };
}

describe('a queue under its guarantee, while another one uses up the maximum of their parent', () => {
  test('seeks room for as many pods as it is guaranteed', () => {
    expect(pass()).toEqual({ in: [], seeks: ['p', 'q'], stays: ['r'], crowded: ['p', 'q'] });
  });

  test('gets what is left of the maximum at once', () => {
    expect(pass({ pods: BORROWED.slice(0, 3) })).toMatchObject({ in: ['p'], seeks: ['q'] });
  });

  test.each<[string, Given]>([
    ['it reclaims nothing', { isReclaiming: false }],
    ['its pods never preempt', { waiting: WAITING.map((pod) => ({ ...pod, mayPreempt: false })) }],
    ['it has no guarantee', { queues: QUEUES.map((each) => ({ ...each, guaranteed: new Map() })) }],
    ['its own maximum is what keeps them out', { queues: withMax('lender', 0) }],
    ['it has its guarantee', { pods: [...BORROWED.slice(2), ...[1, 2].map((at) => running(`own-${at}`, 'lender'))] }],
  ])('seeks none where %s', (_, given) => {
    expect(pass(given)).toMatchObject({ in: [], seeks: [], stays: ['p', 'q', 'r'], crowded: [] });
  });
});

function withMax(name: string, most: number): readonly Queue[] {
  return QUEUES.map((each) => (each.name === name ? { ...each, max: cpu(most), guaranteed: cpu(0) } : each));
}

describe('room for a pod that only the maximum above keeps out', () => {
  const pod = waiting('p', 'lender');
  const seeker = { pod, isGated: true, isCrowded: true, nominatedTo: undefined, fits: () => true };

  function roomStep(pods: readonly RunningPod[], budgets: RoomState['budgets'] = new Map()) {
    const here = node('node-0', cpu(100), pods);
    const nodes: readonly RoomNode[] = [{ ...here, leaving: new Map(), leavingPods: [], promised: [] }];
    const own = ownUsage(pods);
    const state: RoomState = { tree: createQueueTree(QUEUES), own, sought: new Map(), nodes, budgets };
    return finish(makeRoomInSteps(state, [seeker], 0))[0]?.step;
  }

  test('is made below that maximum, although its node has room', () => {
    expect(roomStep(BORROWED)).toMatchObject({ kind: 'Evict', victims: [{ queue: 'borrower' }] });
  });

  test('is there once the maximum leaves it', () => {
    expect(roomStep(BORROWED.slice(1))).toMatchObject({ kind: 'Room', node: 'node-0' });
  });

  test('is none where a budget keeps each of the others, however free the node is', () => {
    const kept = BORROWED.map((each) => ({ ...each, budgets: ['none'] }));
    expect(roomStep(kept, new Map([['none', 0]]))).toMatchObject({ kind: 'None' });
  });
});

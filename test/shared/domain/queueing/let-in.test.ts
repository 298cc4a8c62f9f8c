import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/model/steps.ts';
import { plainQueue, type Queue, type QueueAmounts } from '#shared/domain/queue/queue.ts';
import { createQueueTree, type QueueTree } from '#shared/domain/queue/queue-tree.ts';
import { createShares } from '#shared/domain/queue/shares.ts';
import {
  compareInLine,
  describeObjection,
  letInSteps,
  type Objection,
  type PodInLine,
} from '#shared/domain/queueing/let-in.ts';

const CPU = 'cpu';

function cpu(amount: number): QueueAmounts {
  return new Map([[CPU, amount * 1_000]]);
}

/** A pod of the queue with this number. */
function waiting(uid: string, queue: number, amount = 1, more: Partial<PodInLine> = {}): PodInLine {
  return { uid, queue, priority: 0, createdAt: 0, requests: cpu(amount), ...more };
}

function decide(
  queues: readonly Queue[],
  total: number,
  pods: readonly PodInLine[],
  admitted: Record<string, number> = {},
) {
  const tree = createQueueTree(queues);
  const own = new Map(Object.entries(admitted).map(([name, amount]) => [name, cpu(amount)]));
  const requested = new Map(own);
  for (const pod of pods) {
    const name = tree.queues[pod.queue]?.name ?? '';
    const before = Number(requested.get(name)?.get(CPU) ?? 0);
    requested.set(name, new Map([[CPU, before + Number(pod.requests.get(CPU) ?? 0)]]));
  }
  const shares = finish(createShares({ tree, total: cpu(total), requested }));
  const waitingPods = pods.toSorted(compareInLine);
  const decision = finish(letInSteps({ shares, total: cpu(total), admitted: own, waiting: waitingPods }));
  return { tree, decision, names: decision.letIn.map(({ pod }) => pod.uid), held: heldTexts(decision.held, tree) };
}

function heldTexts(held: readonly HeldPod[], tree: QueueTree): Readonly<Record<string, string>> {
  return Object.fromEntries(held.map(({ pod, objection }) => [pod.uid, describeObjection(objection, pod, tree).text]));
}

interface HeldPod {
  readonly pod: PodInLine;
  readonly objection: Objection;
}

/** Queues a and b, numbers 1 and 2. */
const [A, B] = [plainQueue('a'), plainQueue('b')];

describe('which waiting pods go in', () => {
  test('each queue gets its share, and a waiting pod is told what is missing', () => {
    const pods = ['1', '2', '3'].flatMap((name) => [waiting(`a${name}`, 1, 2), waiting(`b${name}`, 2, 2)]);
    const { names, held } = decide([A, B], 8, pods);
    expect(names).toEqual(['a1', 'a2', 'b1', 'b2']);
    expect(held['a3']).toBe('waits for 2 cpu: queue a deserves 4; let in 4, requested 2');
  });

  test('what no queue takes of its share is lent: nothing is idle while a pod waits for it', () => {
    const pods = ['1', '2', '3'].flatMap((name) => [waiting(`a${name}`, 1, 2), waiting(`b${name}`, 2, 2)]);
    const { decision, names } = decide([A, B], 10, pods);
    expect(names).toEqual(['a1', 'a2', 'b1', 'b2', 'a3']);
    expect(decision.letIn.at(-1)?.because.code).toBe('IdleRoomLent');
  });

  test('the guarantee of a queue without pods is lent, and its own pods go in whatever was lent', () => {
    const guaranteed = { ...B, guaranteed: cpu(4) };
    expect(decide([A, guaranteed], 8, [waiting('a1', 1, 6)]).names).toEqual(['a1']);
    expect(decide([A, guaranteed], 8, [waiting('b1', 2, 4)], { a: 8 }).names).toEqual(['b1']);
  });

  test('a higher priority goes first, then the older pod, then the UID', () => {
    const pods = [
      waiting('younger', 1, 1, { createdAt: 2 }),
      waiting('older', 1, 1, { createdAt: 1 }),
      waiting('high', 1, 1, { createdAt: 3, priority: 10 }),
      waiting('another', 1, 1, { createdAt: 1 }),
    ];
    expect(decide([A], 3, pods).names).toEqual(['high', 'another', 'older']);
  });

  test('a pod that does not fit lets others pass in a BestEffort queue, and none in a Strict one (S1-12)', () => {
    const pods = [waiting('large', 1, 9, { createdAt: 1 }), waiting('small', 1, 1, { createdAt: 2 })];
    expect(decide([A], 8, pods).names).toEqual(['small']);
    const strict = decide([{ ...A, ordering: 'Strict' }], 8, pods);
    expect(strict.names).toEqual([]);
    expect(strict.held['small']).toBe(
      'waits behind another pod: queue a lets pods in strictly in order, and the first one waits for cpu',
    );
  });

  test('the maximum of a queue and of each above it holds, also for what is lent', () => {
    const parent = { ...plainQueue('top'), max: cpu(3) };
    const queues = [parent, plainQueue('x', 'top'), { ...plainQueue('y', 'top'), max: cpu(1) }];
    const tree = createQueueTree(queues);
    const [x = 0, y = 0] = ['x', 'y'].map((name) => tree.indexes.get(name));
    const pods = [...['x1', 'x2', 'x3'].map((uid) => waiting(uid, x)), ...['y1', 'y2'].map((uid) => waiting(uid, y))];
    const { names, held } = decide(queues, 100, pods);
    expect(names).toEqual(['x1', 'x2', 'y1']);
    expect(held['y2']).toBe('waits for 1 cpu: queue y is limited to 1; let in 1, requested 1');
  });

  test('a type that no node has is bounded by maximums alone', () => {
    const gpu: PodInLine = { ...waiting('gpu', 1), requests: new Map([['example.com/gpu', 1_000]]) };
    expect(decide([A], 8, [gpu]).names).toEqual(['gpu']);
    expect(decide([{ ...A, max: new Map([['example.com/gpu', 0]]) }], 8, [gpu]).names).toEqual([]);
  });

  test('nothing goes in above a maximum, above the total by lending, or while a pod that fits better waits', () => {
    const pod = fc.record({
      queue: fc.integer({ min: 1, max: 3 }),
      amount: fc.integer({ min: 1, max: 5 }),
      priority: fc.integer({ min: 0, max: 2 }),
      createdAt: fc.integer({ min: 0, max: 5 }),
    });
    const queue = fc.record({ weight: fc.integer({ min: 0, max: 3 }), max: fc.integer({ min: 2, max: 12 }) });
    fc.assert(
      fc.property(
        fc.array(pod, { maxLength: 12 }),
        fc.tuple(queue, queue, queue),
        fc.nat(20),
        (drawn, settings, total) => {
          const queues = settings.map(({ weight, max }, index) => ({
            ...plainQueue(`q${index}`),
            weight,
            max: cpu(max),
          }));
          const pods = drawn.map(({ amount, ...each }, index) => ({
            ...waiting(`p${index}`, each.queue, amount),
            ...each,
          }));
          const { decision } = decide(queues, total, pods);
          const sum = (list: readonly PodInLine[]) =>
            list.reduce((all, each) => all + Number(each.requests.get(CPU) ?? 0), 0);
          const letIn = decision.letIn.map((each) => each.pod);
          expect(sum(letIn)).toBeLessThanOrEqual(total * 1_000);
          for (const [index, { max }] of settings.entries()) {
            expect(sum(letIn.filter((each) => each.queue === index + 1))).toBeLessThanOrEqual(max * 1_000);
          }
          for (const { pod: held } of decision.held) {
            const ofQueue = sum(letIn.filter((each) => each.queue === held.queue)) + sum([held]);
            const most = (settings[held.queue - 1]?.max ?? 0) * 1_000;
            expect(ofQueue > most || sum(letIn) + sum([held]) > total * 1_000).toBe(true);
          }
        },
      ),
      { seed: 28, numRuns: 500 },
    );
  });
});

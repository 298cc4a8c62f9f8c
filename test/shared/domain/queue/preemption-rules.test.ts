import { describe, expect, test } from 'vitest';
import { createTaker } from '#shared/domain/queue/taker.ts';
import { createQueueRules } from '#shared/domain/queue/preemption-rules.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpu, ownUsage, policyOf, queue, waiting } from './builders.ts';

/** A pod as `queue/name`, or the name alone for a pod of no queue. */
interface SmallPod {
  readonly name: string;
  readonly queue: string;
  readonly requests: QueueAmounts;
}

interface Case {
  readonly queues: readonly Queue[];
  /** What runs on other nodes. */
  readonly elsewhere?: readonly SmallPod[];
  /** Of the node, the least important first. */
  readonly pods: readonly SmallPod[];
  readonly proposed: readonly string[];
  readonly taker?: Partial<WaitingPod>;
}

function pod(name: string, queueName: string, requests = cpu(1)): SmallPod {
  return { name, queue: queueName, requests };
}

/** The pods that are kept from a pod of queue `taker`, each with the code of the law. */
function kept({ queues, elsewhere = [], pods, proposed, taker = {} }: Case): Readonly<Record<string, string>> {
  const tree = createQueueTree([...queues, ...(queues.some(({ name }) => name === 'taker') ? [] : [queue('taker')])]);
  const counted = [...pods, ...elsewhere].filter((each) => tree.indexes.has(each.queue));
  const asking = createTaker(tree, sumUsage(tree, ownUsage(counted)), waiting('p', 'taker', taker), 0);
  const laws = createQueueRules<SmallPod>(asking, ({ queue: name, requests }) => {
    const index = tree.indexes.get(name);
    return index === undefined ? undefined : { queue: index, amounts: requests };
  });
  const { keepsProposed, whyKept } = laws({
    proposed: pods.filter(({ name }) => proposed.includes(name)),
    others: () => pods,
  });
  const areKept = pods.some((each) => proposed.includes(each.name) && whyKept(each) !== undefined);
  expect(keepsProposed).toBe(areKept);
  return Object.fromEntries(
    pods.flatMap((each) => [whyKept(each)?.code].flatMap((code) => (code ? [[each.name, code]] : []))),
  );
}

const guaranteed = (name: string, amount: number, parent?: string): Queue =>
  queue(name, parent, { guaranteed: cpu(amount) });
const memory = (amount: number): QueueAmounts => new Map([['memory', amount]]);
const both: QueueAmounts = new Map([...cpu(1), ...memory(1)]);
const three = ['a', 'b', 'c'].map((name) => pod(name, 'giver'));

describe('pods that queues keep from a preemption by priority', () => {
  test.each<[string, Case, Readonly<Record<string, string>>]>([
    ['none of a queue without a guarantee', { queues: [queue('giver')], pods: three, proposed: ['a', 'b', 'c'] }, {}],
    [
      'none above the guarantee',
      { queues: [guaranteed('giver', 2)], pods: three, proposed: ['a'] },
      { b: 'AboveExcess', c: 'AboveExcess' },
    ],
    [
      'all of a queue at its guarantee',
      { queues: [guaranteed('giver', 3)], pods: three, proposed: ['a'] },
      { a: 'AboveExcess', b: 'AboveExcess', c: 'AboveExcess' },
    ],
    [
      'the more important ones, where a part of the proposal is above the guarantee',
      { queues: [guaranteed('giver', 1)], pods: three, proposed: ['a', 'b', 'c'] },
      { c: 'AboveExcess' },
    ],
    [
      'none of a lawful proposal, also where less important pods stay',
      { queues: [guaranteed('giver', 2)], pods: three, proposed: ['c'] },
      { a: 'AboveExcess', b: 'AboveExcess' },
    ],
    [
      'pods on other nodes count',
      { queues: [guaranteed('giver', 2)], pods: [pod('a', 'giver')], elsewhere: three.slice(1), proposed: ['a'] },
      {},
    ],
    [
      'of two queues each by its own guarantee',
      {
        queues: [guaranteed('giver', 1), guaranteed('second', 1)],
        pods: [pod('a', 'giver'), pod('b', 'second'), pod('c', 'second')],
        proposed: ['a', 'b'],
      },
      { a: 'AboveExcess', c: 'AboveExcess' },
    ],
    [
      'by the guarantee of a queue above',
      { queues: [guaranteed('top', 1), queue('giver', 'top')], pods: [pod('a', 'giver')], proposed: ['a'] },
      { a: 'AboveExcess' },
    ],
    [
      'not by one above both',
      {
        queues: [guaranteed('top', 1), queue('giver', 'top'), queue('taker', 'top')],
        pods: [pod('a', 'giver')],
        proposed: ['a'],
      },
      {},
    ],
    [
      'by the guarantee of a resource that the preemptor does not ask for',
      {
        queues: [queue('giver', undefined, { guaranteed: memory(1) })],
        pods: [pod('a', 'giver', both)],
        proposed: ['a'],
      },
      { a: 'AboveExcess' },
    ],
    [
      'not by one that the pod does not take',
      {
        queues: [queue('giver', undefined, { guaranteed: memory(9) })],
        pods: [pod('a', 'giver')],
        proposed: ['a'],
      },
      {},
    ],
    ['none of its own queue', { queues: [guaranteed('taker', 9)], pods: [pod('a', 'taker')], proposed: ['a'] }, {}],
    ['none of no queue', { queues: [], pods: [pod('a', 'unknown')], proposed: ['a'] }, {}],
    [
      'those outside the fence of the preemptor',
      {
        queues: [queue('top', undefined, policyOf('Fence')), queue('taker', 'top'), queue('near', 'top'), queue('far')],
        pods: [pod('a', 'near'), pod('b', 'far')],
        proposed: ['a', 'b'],
      },
      { b: 'OutsideFence' },
    ],
    [
      'those of a queue that takes no part',
      { queues: [queue('giver', undefined, policyOf('Disabled'))], pods: three, proposed: ['a'] },
      { a: 'GiverDisabled', b: 'GiverDisabled', c: 'GiverDisabled' },
    ],
    [
      'all of others, where that of the preemptor takes no part',
      {
        queues: [queue('taker', undefined, policyOf('Disabled')), queue('giver')],
        pods: three.slice(2),
        proposed: ['c'],
      },
      { c: 'TakerDisabled' },
    ],
    [
      'none of a switched-off queue from the pod of a DaemonSet',
      {
        queues: [queue('giver', undefined, policyOf('Disabled'))],
        pods: three,
        proposed: ['a'],
        taker: { isDaemonSet: true },
      },
      {},
    ],
  ])('%s', (_, situation, expected) => {
    expect(kept(situation)).toEqual(expected);
  });

  test('the sentence names the queue and the figures', () => {
    const tree = createQueueTree([queue('taker'), guaranteed('giver', 3_000)]);
    const usage = sumUsage(tree, new Map([['giver', cpu(3_000)]]));
    const taker = createTaker(tree, usage, waiting('p', 'taker'), 0);
    const loss = { queue: tree.indexes.get('giver') as number, amounts: cpu(1_000) };
    const { whyKept } = createQueueRules<string>(taker, () => loss)({ proposed: ['a'], others: () => ['a'] });
    expect(whyKept('a')).toEqual({
      code: 'AboveExcess',
      text: 'queue giver would be below its guarantee (cpu 3 of 3) without such a pod',
      facts: { row: 'S2-22', queue: 'taker' },
    });
  });

  test('of many nodes with pods of the same kinds, each is judged as if it were alone', () => {
    const tree = createQueueTree([queue('taker'), guaranteed('giver', 3_000)]);
    const taker = createTaker(tree, sumUsage(tree, new Map([['giver', cpu(8_000)]])), waiting('p', 'taker'), 0);
    const of = (milli: number) => ({ queue: tree.indexes.get('giver') as number, amounts: cpu(milli) });
    const losses = { small: of(1_000), large: of(3_000) };
    type Kind = keyof typeof losses;
    const rules = createQueueRules<{ readonly kind: Kind }>(taker, ({ kind }) => losses[kind]);
    const ask = (...kinds: readonly Kind[]) => {
      const pods = kinds.map((kind) => ({ kind }));
      const { keepsProposed, whyKept } = rules({ proposed: pods, others: () => pods });
      return [keepsProposed, pods.filter((each) => whyKept(each) !== undefined).length];
    };
    for (let round = 0; round < 2; round += 1) {
      expect(ask('small')).toEqual([false, 0]);
      expect(ask('small', 'small', 'small', 'small', 'small')).toEqual([false, 0]);
      expect(ask('small', 'small', 'small', 'small', 'small', 'small')).toEqual([true, 1]);
      expect(ask('large', 'small', 'small')).toEqual([false, 0]);
      expect(ask('large', 'large')).toEqual([true, 1]);
      expect(ask('large')).toEqual([false, 0]);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { splitLetInSteps } from '#shared/domain/queue/pass-stages.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpu, ownUsage, policyOf, queue, running, waiting } from './builders.ts';

const TAKER = queue('taker', undefined, { guaranteed: cpu(4) });
const GIVER = queue('giver');

interface Given {
  readonly queues?: readonly Queue[];
  readonly total?: QueueAmounts;
  /** What others were let in for. */
  readonly used?: number;
}

/** The names of the pods that go in at once, and of those that wait for room. */
function split(letIn: readonly WaitingPod[], { queues = [TAKER, GIVER], total = cpu(8), used = 8 }: Given = {}) {
  const tree = createQueueTree(queues);
  const others = used === 0 ? [] : [running('others', 'giver', { requests: cpu(used) })];
  const question = { tree, usage: sumUsage(tree, ownUsage(others)), allowed: new Map(), waiting: letIn };
  const because = { code: 'WithinShare', text: '', facts: {} };
  const decision = { letIn: letIn.map((pod) => ({ pod, because })), held: [], usage: new Map(), blocking: new Map() };
  const { atOnce, seeking } = finish(splitLetInSteps(question, decision, total));
  return [atOnce, seeking].map((pods) => pods.map(({ name }) => name));
}

describe('a pod that is let in', () => {
  const pod = waiting('p', 'taker');

  test.each<[string, Partial<WaitingPod>, Given]>([
    ['is within the total', {}, { used: 7 }],
    ['never preempts, by its class', { mayPreempt: false }, {}],
    ['stands in a queue without a guarantee', { queue: 'giver' }, {}],
    ['stands in a queue that its guarantee leaves nothing', {}, { queues: [queue('taker'), GIVER] }],
    ['stands in a queue that takes no part', {}, { queues: [{ ...TAKER, ...policyOf('Disabled') }, GIVER] }],
    ['asks for a type that the total does not have', { requests: new Map([['example.com/gpu', 9]]) }, {}],
    ['asks for nothing', { requests: cpu(0) }, { used: 9 }],
  ])('goes in at once where it %s', (_, change, given) => {
    expect(split([{ ...pod, ...change }], given)).toEqual([['p'], []]);
  });

  test.each<[string, Partial<WaitingPod>, Given]>([
    ['is beyond the total', {}, {}],
    ['is so in a type of which nobody has anything', {}, { used: 0, total: cpu(0) }],
    ['has not waited for long', { waitingSince: 0 }, {}],
  ])('waits for room where its queue is under its guarantee and it %s', (_, change, given) => {
    expect(split([{ ...pod, ...change }], given)).toEqual([[], ['p']]);
  });
});

describe('what is let in before', () => {
  const pods = ['p', 'q'].map((name) => waiting(name, 'taker'));

  test('counts for the total', () => {
    expect(split(pods, { used: 7 })).toEqual([['p'], ['q']]);
    expect(split([waiting('other', 'giver'), ...pods], { used: 6 })).toEqual([['other', 'p'], ['q']]);
  });

  test('counts for the guarantee, also while it waits for room', () => {
    const queues = [queue('taker', undefined, { guaranteed: cpu(1) }), GIVER];
    expect(split(pods, { queues })).toEqual([['q'], ['p']]);
  });

  test('counts for queues above', () => {
    const above = queue('above', undefined, { max: cpu(2) });
    const queues = [above, queue('taker', 'above', { guaranteed: cpu(4), max: cpu(1) }), queue('b', 'above'), GIVER];
    const sibling = waiting('b', 'b', { mayPreempt: false });
    expect(split([sibling, ...pods], { queues })).toEqual([['b', 'q'], ['p']]);
  });

  test('leaves what is asked about as it was', () => {
    const tree = createQueueTree([TAKER, GIVER]);
    const usage = sumUsage(tree, ownUsage([running('others', 'giver')]));
    const before = structuredClone(usage);
    const letIn = pods.map((pod) => ({ pod, because: { code: '', text: '', facts: {} } }));
    const question = { tree, usage, allowed: new Map(), waiting: pods };
    finish(splitLetInSteps(question, { letIn, held: [], usage: new Map(), blocking: new Map() }, cpu(8)));
    expect(usage).toEqual(before);
  });

  test('takes many pods piece by piece', () => {
    const tree = createQueueTree([TAKER, GIVER]);
    const many = Array.from({ length: 2_000 }, (_, index) => waiting(`p-${index}`, 'taker'));
    const letIn = many.map((pod) => ({ pod, because: { code: '', text: '', facts: {} } }));
    const question = { tree, usage: sumUsage(tree, new Map()), allowed: new Map(), waiting: many };
    expect([
      ...splitLetInSteps(question, { letIn, held: [], usage: new Map(), blocking: new Map() }, cpu(8)),
    ]).toHaveLength(4);
  });
});

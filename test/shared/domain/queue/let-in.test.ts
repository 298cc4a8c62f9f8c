import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { finish, sortInSteps } from '#shared/domain/base/steps.ts';
import { decideLetIn, letInInSteps, type LetInQuestion, whyWaiting } from '#shared/domain/queue/let-in.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { createQueueTree } from '#shared/domain/queue/queue-tree.ts';
import { deservedShares } from '#shared/domain/queue/shares.ts';
import { sumUsage } from '#shared/domain/queue/usage.ts';
import { cpu, ownUsage, queue, running, waiting } from './builders.ts';

type Running = readonly { readonly queue: string; readonly requests: QueueAmounts }[];

/** What a leader asks: shares of everything that runs or waits, idle guarantees lent. */
function ask(
  queues: readonly Queue[],
  total: number,
  pods: readonly WaitingPod[],
  inside: Running = [],
): LetInQuestion {
  const tree = createQueueTree(queues);
  const requested = ownUsage([...inside, ...pods]);
  const allowed = deservedShares({ tree, total: cpu(total), requested, idleGuarantees: 'Lent' });
  return { tree, usage: sumUsage(tree, ownUsage(inside)), allowed, waiting: pods };
}

function namesIn(question: LetInQuestion): readonly string[] {
  return decideLetIn(question).letIn.map(({ pod }) => pod.name);
}

const AB = [queue('a'), queue('b')];
const pods = (queueName: string, count: number, change: Partial<WaitingPod> = {}): readonly WaitingPod[] =>
  Array.from({ length: count }, (_, index) =>
    waiting(`${queueName}${index}`, queueName, { waitingSince: index, ...change }),
  );

describe('the order', () => {
  test('by priority, then replacements of disrupted pods, then age, whatever the order of arrival (S0-25, S3-45)', () => {
    const three = [
      waiting('young', 'a', { waitingSince: 9 }),
      waiting('old', 'a', { waitingSince: 1 }),
      waiting('replacement', 'a', { waitingSince: 10, goesFirst: true }),
      waiting('high', 'a', { waitingSince: 99, priority: 5 }),
    ];
    expect(namesIn(ask(AB, 9, three))).toEqual(['high', 'replacement', 'old', 'young']);
    expect(namesIn(ask(AB, 9, three.toReversed()))).toEqual(['high', 'replacement', 'old', 'young']);
  });

  const large = waiting('large', 'a', { requests: cpu(9), priority: 1 });

  test('what does not fit stops no pod behind it (S1-12)', () => {
    expect(namesIn(ask(AB, 4, [large, ...pods('a', 2)]))).toEqual(['a0', 'a1']);
  });

  test('in a Strict queue it does, in that queue alone', () => {
    const queues = [queue('a', undefined, { ordering: 'Strict' }), queue('b')];
    const question = ask(queues, 4, [large, ...pods('a', 1), ...pods('b', 1)]);
    const decision = decideLetIn(question);
    expect(decision.letIn.map(({ pod }) => pod.name)).toEqual(['b0']);
    expect(whyWaiting(question, decision, pods('a', 1)[0] as WaitingPod)).toMatchObject({
      code: 'BehindAnother',
      text: 'waits behind pod large: queue a lets pods in strictly in order',
    });
  });
});

describe('how much goes in', () => {
  test('the share of each queue, whatever is free on nodes', () => {
    const question = ask(AB, 6, [...pods('a', 9), ...pods('b', 9)]);
    expect(namesIn(question)).toEqual(['a0', 'b0', 'a1', 'b1', 'a2', 'b2']);
  });

  test('a queue over its share gets nothing more, and the other its share (S4-6)', () => {
    const inside = Array.from({ length: 6 }, () => running('r', 'a'));
    expect(namesIn(ask(AB, 6, [...pods('a', 1), ...pods('b', 9)], inside))).toEqual(['b0', 'b1', 'b2']);
  });

  test('the maximum of any queue above (S2-37)', () => {
    const queues = [queue('p', undefined, { max: cpu(3) }), queue('p.a', 'p'), queue('p.b', 'p'), queue('c')];
    const question = ask(queues, 99, [...pods('p.a', 3), ...pods('p.b', 3)]);
    const decision = decideLetIn(question);
    expect(decision.letIn).toHaveLength(3);
    const last = question.waiting.at(-1) as WaitingPod;
    expect(whyWaiting(question, decision, last)).toMatchObject({ code: 'AtMaximum', facts: { queue: 'p' } });
  });

  test('an idle guarantee is lent, and kept for its owner when it asks', () => {
    const queues = [queue('a', undefined, { guaranteed: cpu(4) }), queue('b')];
    expect(namesIn(ask(queues, 6, pods('b', 9)))).toHaveLength(6);
    expect(
      namesIn(ask(queues, 6, [...pods('a', 9), ...pods('b', 9)])).filter((name) => name.startsWith('b')),
    ).toHaveLength(2);
  });

  test('what is too small for a pod of any queue in its share is not left idle', () => {
    const two = [...pods('a', 3, { requests: cpu(2) }), ...pods('b', 3, { requests: cpu(2) })];
    const decision = decideLetIn(ask(AB, 6, two));
    expect(decision.letIn.map(({ pod, because }) => [pod.name, because.code])).toEqual([
      ['a0', 'WithinShare'],
      ['b0', 'WithinShare'],
      ['a1', 'FromRest'],
    ]);
  });

  test('a queue without a weight gets its guarantee and nothing of the rest', () => {
    const queues = [queue('a', undefined, { weight: 0, guaranteed: cpu(1) }), queue('b')];
    expect(namesIn(ask(queues, 6, pods('a', 4)))).toEqual(['a0']);
  });

  test('a type that the total does not name is not limited: its nodes may have yet to come', () => {
    const gpu = waiting('gpu', 'a', { requests: new Map([...cpu(1), ['example.com/gpu', 8_000]]) });
    expect(namesIn(ask(AB, 6, [gpu]))).toEqual(['gpu']);
  });
});

describe('why a pod waits', () => {
  const why = (queues: readonly Queue[], pod: WaitingPod, inside: Running = []) => {
    const question = ask(queues, 8_000, [pod], inside);
    return whyWaiting(question, decideLetIn(question), pod);
  };

  test('the amount that is missing and the queue that is at its share', () => {
    const queues = [queue('a/b', undefined, { weight: 0, guaranteed: cpu(4_000) }), queue('c')];
    const inside = [running('r', 'a/b', { requests: cpu(3_700) })];
    expect(why(queues, waiting('p', 'a/b', { requests: cpu(500) }), inside)).toEqual({
      code: 'AtShare',
      text: 'waits for 200m cpu: queue a/b is at its deserved 4',
      facts: { queue: 'a/b', type: 'cpu', missing: '200m', limit: '4' },
    });
  });

  test.each([
    ['QueueNotFound', waiting('p', 'nowhere'), 'queue nowhere does not exist'],
    ['QueueHasChildren', waiting('p', 'a'), 'queue a has queues below it, and pods can stand only in one of those'],
    ['QueueDetached', waiting('p', 'lost'), 'queue lost is not part of the tree: a queue above it does not exist'],
    ['QueueDetached', waiting('p', 'x'), 'queue x is not part of the tree: its parents lead back to it'],
    [
      'NotCharged',
      waiting('p', 'a.1', { isCharged: false }),
      'waits until the quotas of its namespace have counted it',
    ],
  ])('%s', (code, pod, text) => {
    const queues = [queue('a'), queue('a.1', 'a'), queue('lost', 'gone'), queue('x', 'y'), queue('y', 'x')];
    expect(why(queues, pod)).toMatchObject({ code, text });
    expect(namesIn(ask(queues, 9, [pod]))).toEqual([]);
  });

  test('a queue whose share is not known lets nothing in', () => {
    const question = { ...ask(AB, 9, pods('a', 1)), allowed: new Map() };
    const decision = decideLetIn(question);
    expect(decision.letIn).toEqual([]);
    expect(whyWaiting(question, decision, pods('a', 1)[0] as WaitingPod).code).toBe('UnknownShare');
  });

  test('a pod that came when the pass was over, and for which there is room, goes in by the next', () => {
    const question = ask(AB, 9, pods('a', 1));
    const decision = decideLetIn({ ...question, waiting: [] });
    expect(whyWaiting(question, decision, pods('a', 1)[0] as WaitingPod)).toMatchObject({
      code: 'NextPass',
      text: 'is let in by the next pass',
    });
  });
});

describe('of many passes', () => {
  const asked = fc.array(
    fc.record({
      queueName: fc.constantFrom('a', 'b', 'c.1', 'c.2'),
      size: fc.nat(5),
      priority: fc.nat(2),
      age: fc.nat(9),
    }),
    { maxLength: 25 },
  );
  const share = fc.record({ weight: fc.nat(3), guaranteed: fc.nat(6).map(cpu), max: fc.option(fc.nat(15)) });
  const tree = fc.tuple(share, share, share, share, share).map((shares) =>
    ['a', 'b', 'c', 'c.1', 'c.2'].map((name, index) => {
      const { weight = 1, guaranteed = cpu(0), max = null } = shares[index] ?? {};
      const parent = name.includes('.') ? 'c' : undefined;
      return queue(name, parent, { weight, guaranteed, ...(max !== null && { max: cpu(max) }) });
    }),
  );

  /** The guarantees fit in the total, and those of children in their parent's. */
  function isPromiseKept(queues: readonly Queue[], total: number): boolean {
    const [a = 0, b = 0, c = 0, c1 = 0, c2 = 0] = queues.map(({ guaranteed }) => Number(guaranteed.get('cpu')));
    return a + b + c <= total && c1 + c2 <= c;
  }

  test('none goes over the total, a maximum, or past a pod that would have fitted', () => {
    fc.assert(
      fc.property(tree, fc.nat(20), asked, (queues, total, specs) => {
        const all = specs.map(({ queueName, size, priority, age }, index) =>
          waiting(`p${index}`, queueName, { requests: cpu(size), priority, waitingSince: age }),
        );
        const question = ask(queues, total, all);
        const decision = decideLetIn(question);
        const usedOf = (name: string) => Number(decision.usage.get('cpu')?.[question.tree.indexes.get(name) ?? 0] ?? 0);
        if (isPromiseKept(queues, total)) expect(usedOf('root')).toBeLessThanOrEqual(total);
        for (const { name, max } of queues)
          expect(usedOf(name)).toBeLessThanOrEqual(Number(max.get('cpu') ?? Infinity));
        const inside = new Set(decision.letIn.map(({ pod }) => pod));
        for (const pod of all.filter((each) => !inside.has(each))) {
          const size = Number(pod.requests.get('cpu'));
          const isAtMaximum = queues
            .filter(({ name }) => pod.queue.startsWith(name))
            .some(({ name, max }) => usedOf(name) + size > Number(max.get('cpu') ?? Infinity));
          const allowed = Number(question.allowed.get(pod.queue)?.get('cpu'));
          expect(isAtMaximum || usedOf(pod.queue) + size > allowed, pod.name).toBe(true);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  test('fifty thousand pods are looked at in steps', () => {
    const many = Array.from({ length: 50_000 }, (_, index) =>
      waiting(`p${index}`, index % 2 === 0 ? 'a' : 'b', { waitingSince: (index * 7_919) % 50_000 }),
    );
    const steps = [...letInInSteps(ask(AB, 100, many))];
    expect(steps.length).toBeGreaterThan(75);
  });

  test('sortInSteps sorts as toSorted, equal ones in their order', () => {
    const items = Array.from({ length: 9_001 }, (_, index) => ({ key: (index * 7_919) % 100, index }));
    const compare = (a: { key: number }, b: { key: number }): number => a.key - b.key;
    expect(finish(sortInSteps(items, compare))).toEqual(items.toSorted(compare));
    expect(finish(sortInSteps([], compare))).toEqual([]);
  });
});

test('pods that share what they request go in as if each had its own', () => {
  const KINDS = [cpu(1), cpu(2), cpu(5)];
  const pod = fc.record({ queue: fc.constantFrom('a', 'b'), kind: fc.nat(KINDS.length - 1), isCharged: fc.boolean() });
  const holds = (
    drawn: readonly { queue: string; kind: number; isCharged: boolean }[],
    ordering: Queue['ordering'],
  ) => {
    const share = drawn.map(({ queue: name, kind, isCharged }, index) =>
      waiting(`pod${index}`, name, { waitingSince: index, isCharged, requests: KINDS[kind] ?? cpu(0) }),
    );
    const own = share.map((each) => ({ ...each, requests: new Map(each.requests) }));
    const queues = [queue('a', undefined, { ordering, max: cpu(6) }), queue('b', undefined, { weight: 2 })];
    expect(namesIn(ask(queues, 9, share))).toEqual(namesIn(ask(queues, 9, own)));
  };
  fc.assert(fc.property(fc.array(pod), fc.constantFrom('BestEffort', 'Strict'), holds), { seed: 28 });
});

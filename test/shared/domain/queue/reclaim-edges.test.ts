import { describe, expect, test } from 'vitest';
import { compareGoingFirst } from '#shared/domain/queue/queue-pod.ts';
import { decideReclaim, decideReclaimInSteps, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import { cpu, node, question, queue, running, waiting } from './builders.ts';

const TAKER = queue('taker', undefined, { guaranteed: cpu(100) });
const QUEUES = [TAKER, queue('giver')];

function victimsOf(decision: ReclaimDecision): readonly string[] {
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : [];
}

test('what keeps the pods of a queue is said the same in whatever order they are read', () => {
  const pods = [running('high', 'giver', { priority: 9 }), running('own', 'giver', { application: 'app of p' })];
  const [said, other] = [pods, pods.toReversed()].map(
    (read) =>
      decideReclaim(question(QUEUES, [node('n', cpu(2), read)], waiting('p', 'taker', { application: 'app of p' })))
        .because.text,
  );
  expect(said).toContain('its pods');
  expect(other).toBe(said);
});

describe('who takes nothing', () => {
  const nodes = [node('n', cpu(1), [running('v', 'giver')])];

  test.each([
    ['the root has no guarantee', {}],
    ['the root is under its guarantee', { guaranteed: cpu(9) }],
  ])('a pod whose queue does not exist, where %s: nothing says what it was promised', (_, change) => {
    const queues = [...QUEUES, queue('root', undefined, change)];
    expect(decideReclaim(question(queues, nodes, waiting('p', 'deleted')))).toMatchObject({
      kind: 'none',
      because: { code: 'QueueNotFound', text: 'queue deleted does not exist: nothing says what it was promised' },
    });
  });

  test('a pod whose queue does not exist still fits where there is room', () => {
    const free = [node('m', cpu(1), [])];
    expect(decideReclaim(question(QUEUES, free, waiting('p', 'deleted')))).toMatchObject({ kind: 'fits', node: 'm' });
  });

  test('a pod that asks for nothing is under no guarantee (S2-12)', () => {
    const pod = waiting('p', 'taker', { requests: new Map() });
    expect(decideReclaim(question(QUEUES, nodes, pod, { fits: () => false })).because).toMatchObject({
      code: 'TakerNotUnderGuarantee',
      text: 'queue taker is not under its guarantee',
    });
  });
});

describe('where room is sought', () => {
  test('nodes are searched for the last resort only where a pod that asks to be spared might go', () => {
    const large = { requests: cpu(2) };
    const stepsOf = (spared: object): number => {
      const pods = [running('small', 'giver'), running('spared', 'giver', { ...spared, mayBePreempted: false })];
      const nodes = Array.from({ length: 500 }, (_, index) => node(`n${index}`, cpu(2), pods));
      return [...decideReclaimInSteps(question(QUEUES, nodes, waiting('p', 'taker', large)))].length;
    };
    expect(stepsOf({ priority: 1 })).toBeLessThan(stepsOf({}));
  });

  test('not on a node that has nothing of a type', () => {
    const gpu = new Map([...cpu(1), ['example.com/gpu', 1_000]]);
    const without = node('n', cpu(1), [running('v', 'giver')]);
    const withOne = node('m', gpu, [running('w', 'giver', { requests: gpu, priority: 0 })]);
    const pod = waiting('p', 'taker', { requests: gpu });
    expect(victimsOf(decideReclaim(question(QUEUES, [without, withOne], pod)))).toEqual(['w']);
    expect(decideReclaim(question(QUEUES, [without], pod)).because).toMatchObject({
      code: 'NotEnough',
      text: expect.stringContaining('no node has enough pods that may be evicted to make room') as string,
    });
  });

  test('a set on another node that would go later changes nothing, however large a pod there is that must stay', () => {
    const early = ['a1', 'a2'].map((name) => running(name, 'giver', { startedAt: 9 }));
    const late = ['b1', 'b2'].map((name) => running(name, 'giver', { startedAt: 1 }));
    const large = running('large', 'giver', { requests: cpu(2), budgets: ['pdb'] });
    const nodes = [node('a', cpu(2), early), node('b', cpu(4), [large, ...late])];
    const pod = waiting('p', 'taker', { requests: cpu(2) });
    const ask = (turned: typeof nodes) =>
      victimsOf(decideReclaim(question(QUEUES, turned, pod, { budgets: new Map([['pdb', 0]]) })));
    expect([ask(nodes), ask(nodes.toReversed())]).toEqual([
      ['a1', 'a2'],
      ['a1', 'a2'],
    ]);
  });

  test('the budget that is in the way is named, however many nodes come before it (D-21)', () => {
    const guarded = running('v', 'giver', { budgets: ['ns/pdb'] });
    const nodes = Array.from({ length: 120 }, (_, index) => node(`n${index}`, cpu(0), []));
    const asked = question(QUEUES, [...nodes, node('last', cpu(1), [guarded])], waiting('p', 'taker'));
    expect(decideReclaim({ ...asked, budgets: new Map([['ns/pdb', 0]]) }).because).toMatchObject({
      code: 'ReclaimBlocked',
      facts: { budget: 'ns/pdb' },
    });
  });
});

test('a pod goes neither before nor after itself', () => {
  const pod = running('v', 'giver', { startedAt: undefined });
  expect(compareGoingFirst(pod, pod)).toBe(0);
});

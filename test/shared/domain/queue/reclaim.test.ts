import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Queue } from '#shared/domain/queue/queue.ts';
import { decideReclaim, decideReclaimInSteps, type ReclaimDecision } from '#shared/domain/queue/reclaim.ts';
import { answer } from '#test/conformance/kinds/queue-preemption.ts';
import { fewestVictims, findings, type JudgedAnswer } from '#test/conformance/queue-judge.ts';
import { cpu, node, policyOf, question, queue, running, waiting } from './builders.ts';
import { orderFinding, orderScenarios } from './reclaim-order.ts';
import { scenarios } from './reclaim-scenarios.ts';

const TAKER = queue('taker', undefined, { guaranteed: cpu(100) });
const QUEUES: readonly Queue[] = [TAKER, queue('giver'), queue('other')];

function victimsOf(decision: ReclaimDecision): readonly string[] {
  return decision.kind === 'reclaim' ? decision.victims.map(({ name }) => name) : [];
}

function onOneNode(pods: Parameters<typeof node>[2], size = 1, queues = QUEUES): ReclaimDecision {
  const capacity = pods.reduce((sum, { requests }) => sum + Number(requests.get('cpu') ?? 0), 0);
  return decideReclaim(
    question(queues, [node('n', cpu(capacity), pods)], waiting('p', 'taker', { requests: cpu(size) })),
  );
}

describe('who goes first', () => {
  test('a smallest set, whatever the priorities in a larger one (D-15)', () => {
    const pods = [
      running('small-1', 'giver'),
      running('small-2', 'giver'),
      running('large', 'giver', { requests: cpu(2) }),
    ];
    expect(victimsOf(onOneNode(pods, 2))).toEqual(['large']);
  });

  test.each([
    ['lower priority (S4-11)', { priority: -1 }],
    ['not started before running (S4-12)', { startedAt: undefined }],
    ['shortest running time (S4-13)', { startedAt: 5 }],
    ['owner disrupted longest ago (S3-8)', { ownerDisruptedAt: undefined }],
    ['with a controller (D-17)', { hasController: true }],
    ['UID', { uid: 'a' }],
  ])('%s', (_, change) => {
    const base = { startedAt: 1, ownerDisruptedAt: 7, hasController: false, uid: 'b' };
    const pods = [running('stays', 'giver', base), running('goes', 'giver', { ...base, ...change })];
    expect(victimsOf(onOneNode(pods))).toEqual(['goes']);
    expect(victimsOf(onOneNode(pods.toReversed()))).toEqual(['goes']);
  });

  test('a pod that did not ask to be spared, even of higher priority (S2-5)', () => {
    const pods = [
      running('spared', 'giver', { priority: -9, mayBePreempted: false }),
      running('willing', 'other', { priority: 0 }),
    ];
    expect(onOneNode(pods)).toMatchObject({ isLastResort: false, victims: [{ name: 'willing' }] });
  });

  test('a willing pod on another node, before one that asks to be spared (S2-9)', () => {
    const nodes = [
      node('a', cpu(1), [running('spared', 'giver', { mayBePreempted: false })]),
      node('b', cpu(2), [running('one', 'giver'), running('two', 'giver')]),
    ];
    const pod = waiting('p', 'taker', { requests: cpu(1) });
    expect(victimsOf(decideReclaim(question(QUEUES, nodes, pod)))).toEqual(['one']);
  });

  test('the first pod of an application after all its other pods (S2-6, S2-30)', () => {
    const executor = { application: 'spark', priority: 0 };
    const pods = [
      running('driver', 'giver', { ...executor, isOriginator: true, priority: -5 }),
      running('executor-1', 'giver', executor),
      running('executor-2', 'giver', executor),
    ];
    expect(victimsOf(onOneNode(pods, 2))).toEqual(['executor-1', 'executor-2']);
    expect(victimsOf(onOneNode(pods, 3))).toEqual(['executor-1', 'executor-2', 'driver']);
  });

  test('with preferNear the giver nearer in the tree, of pods of one priority (S2-23)', () => {
    const near = { preemption: { policy: 'Default', delayMs: 30_000, preferNear: true } } as const;
    const queues = (change: Partial<Queue>): readonly Queue[] => [
      queue('a'),
      queue('taker', 'a', { guaranteed: cpu(9), ...change }),
      queue('near', 'a'),
      queue('far'),
    ];
    const pods = [running('near-pod', 'near', { startedAt: 1 }), running('far-pod', 'far', { startedAt: 2 })];
    expect(victimsOf(onOneNode(pods, 1, queues({})))).toEqual(['far-pod']);
    expect(victimsOf(onOneNode(pods, 1, queues(near)))).toEqual(['near-pod']);
    const higher = [running('near-pod', 'near', { priority: 0 }), running('far-pod', 'far', { priority: -1 })];
    expect(victimsOf(onOneNode(higher, 1, queues(near)))).toEqual(['far-pod']);
  });
});

describe('what keeps pods where they are', () => {
  const victim = running('v', 'giver');

  test.each([
    ['NeverPreempts', { mayPreempt: false }, 'the class of pod p never preempts'],
    ['NotCharged', { isCharged: false }, 'the quotas of its namespace have not counted pod p'],
    ['NotAboveDelay', { waitingSince: -29_900 }, 'the pod has waited 29.9 s; other pods are evicted for it after 30 s'],
  ])('%s', (code, change, text) => {
    const asked = question(QUEUES, [node('n', cpu(1), [victim])], waiting('p', 'taker', change));
    expect(decideReclaim(asked)).toMatchObject({ kind: 'none', because: { code, text } });
  });

  test('a maximum of the queue, or one above that its victims do not relieve (S2-37)', () => {
    const own = [queue('taker', undefined, { guaranteed: cpu(9), max: cpu(0) }), queue('giver')];
    expect(onOneNode([victim], 1, own).because).toMatchObject({ code: 'AboveMaximum' });
    const above = [queue('a', undefined, { max: cpu(1) }), queue('taker', 'a', { guaranteed: cpu(9) }), queue('giver')];
    const sibling = queue('sibling', 'a');
    const pods = [victim, running('w', 'sibling')];
    expect(victimsOf(onOneNode(pods, 1, [...above, sibling]))).toEqual(['w']);
    expect(onOneNode([victim, running('x', 'sibling', { priority: 1 })], 1, [...above, sibling]).kind).toBe('none');
  });

  test('a budget that lets no more pods go, which is named (D-21)', () => {
    const pods = [running('v', 'giver', { budgets: ['ns/pdb'] }), running('w', 'giver', { budgets: ['ns/pdb'] })];
    const ask = (allowed: number, size: number): ReclaimDecision =>
      decideReclaim(
        question(QUEUES, [node('n', cpu(2), pods)], waiting('p', 'taker', { requests: cpu(size) }), {
          budgets: new Map([['ns/pdb', allowed]]),
        }),
      );
    expect(ask(2, 2).kind).toBe('reclaim');
    expect(ask(1, 1).kind).toBe('reclaim');
    expect(ask(1, 2).because).toMatchObject({ code: 'ReclaimBlocked', facts: { budget: 'ns/pdb' } });
    expect(ask(0, 1).because.text).toBe('budget ns/pdb allows no eviction that would make room');
  });

  test('a queue that is switched off, or below one, in either direction (S2-32)', () => {
    const off = policyOf('Disabled');
    const below = [queue('a', undefined, off), queue('taker', 'a', { guaranteed: cpu(9) }), queue('giver')];
    expect(onOneNode([victim], 1, below).because.code).toBe('TakerDisabled');
    const giving = [TAKER, queue('a', undefined, off), queue('giver', 'a')];
    expect(onOneNode([victim], 1, giving).because.text).toBe('queue giver takes no part in preemption between queues');
  });

  test('a policy on the root changes nothing (S2-32)', () => {
    expect(onOneNode([victim], 1, [...QUEUES, queue('root', undefined, policyOf('Disabled'))]).kind).toBe('reclaim');
  });

  test('a fence, by its name (S2-15)', () => {
    const fenced = [
      queue('a', undefined, policyOf('Fence')),
      queue('taker', 'a', { guaranteed: cpu(9) }),
      queue('giver'),
    ];
    expect(onOneNode([victim], 1, fenced).because).toMatchObject({
      code: 'GiversKept',
      text: 'queue giver is over its guarantee but outside the fence of queue a',
    });
  });

  test('no queue inside the fence is over its guarantee (S2-21)', () => {
    const content = [TAKER, queue('giver', undefined, { guaranteed: cpu(1) })];
    expect(onOneNode([victim], 1, content).because).toMatchObject({
      code: 'NoGiver',
      text: 'no queue below queue root is over its guarantee in a type that the pod asks for',
    });
  });

  test('a queue that does not exist gives nothing', () => {
    expect(onOneNode([running('v', 'deleted')]).kind).toBe('none');
  });

  test('a node where the pod does not fit for another reason', () => {
    const nodes = [node('n', cpu(1), [victim]), node('m', cpu(2), [running('w', 'giver', { requests: cpu(2) })])];
    const asked = question(QUEUES, nodes, waiting('p', 'taker'), { fits: (name) => name === 'm' });
    expect(victimsOf(decideReclaim(asked))).toEqual(['w']);
    expect(decideReclaim({ ...asked, fits: () => false }).kind).toBe('none');
  });
});

describe('where room is sought', () => {
  test('nothing goes where the pod fits as it is, in a node whose pods may go, too (S0-5)', () => {
    const nodes = [node('n', cpu(1), [running('v', 'giver')]), node('m', cpu(1), [])];
    expect(decideReclaim(question(QUEUES, nodes, waiting('p', 'taker')))).toMatchObject({ kind: 'fits', node: 'm' });
  });

  test('a pod of a DaemonSet looks only at its own node (S2-4)', () => {
    const nodes = [node('n', cpu(1), [running('v', 'giver')]), node('m', cpu(1), [])];
    const pod = waiting('p', 'taker', { isDaemonSet: true, node: 'n' });
    expect(decideReclaim(question(QUEUES, nodes, pod))).toMatchObject({ kind: 'reclaim', node: 'n' });
    expect(decideReclaim(question(QUEUES, nodes, { ...pod, node: 'gone' })).kind).toBe('none');
  });

  test('a pod that asks for nothing is not removed, and one that gives nothing of use neither (S0-12)', () => {
    const pods = [running('none', 'giver', { requests: new Map() }), running('v', 'giver')];
    expect(victimsOf(onOneNode(pods))).toEqual(['v']);
  });
});

describe('of many scenarios', () => {
  test('no answer breaks a law, none is missed, and no set is larger than the smallest', () => {
    let sets = 0;
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const { want } = answer(scenario) as { readonly want: JudgedAnswer };
        expect(findings(scenario, want)).toEqual([]);
        if (want.outcome !== 'preempt') return;
        sets += 1;
        expect(want.victims).toHaveLength(fewestVictims(scenario) ?? -1);
      }),
      { numRuns: 4_000 },
    );
    expect(sets).toBeGreaterThan(100);
  });

  test('originators, delay, preferNear, DaemonSets and the order: of all smallest sets the one that goes first', () => {
    fc.assert(
      fc.property(orderScenarios, (drawn) => {
        expect(orderFinding(drawn)).toBeUndefined();
      }),
      { numRuns: 4_000 },
    );
  });

  test('the order of pods and nodes changes nothing', () => {
    fc.assert(
      fc.property(scenarios, (scenario) => {
        const turned = { ...scenario, nodes: scenario.nodes.toReversed(), running: scenario.running.toReversed() };
        const [one, other] = [answer(scenario), answer(turned)] as { readonly want: JudgedAnswer }[];
        if (one?.want.outcome === 'preempt') expect(other).toEqual(one);
        else expect(other?.want.outcome).toBe(one?.want.outcome);
      }),
      { numRuns: 1_000 },
    );
  });
});

test('a search over thousands of nodes goes on in steps', () => {
  const nodes = Array.from({ length: 1_000 }, (_, index) =>
    node(`n${index}`, cpu(2), [running(`v${index}`, 'giver', { requests: cpu(2) })]),
  );
  const steps = [...decideReclaimInSteps(question(QUEUES, nodes, waiting('p', 'taker', { requests: cpu(2) })))];
  expect(steps.length).toBeGreaterThanOrEqual(20);
});

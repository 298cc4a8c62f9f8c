import { describe, expect, test } from 'vitest';
import type { RoomNode, RoomStep, Seeker } from '#shared/domain/queue/make-room.ts';
import type { Queue, QueueAmounts } from '#shared/domain/queue/queue.ts';
import { cpu, policyOf, queue, running, waiting } from './builders.ts';
import { makeRoom, room, roomFor, seeker, stateOf, victimsOf } from './rooms.ts';

const QUEUES: readonly Queue[] = [queue('taker', undefined, { guaranteed: cpu(100) }), queue('giver')];
const ONE = [running('v', 'giver')];
const LEAVES = { leaving: [running('leaves', 'giver')] };

/** What is found for each pod, and where. */
function found(steps: readonly { readonly step: RoomStep }[]): readonly (readonly string[])[] {
  return steps.map(({ step }) => (step.kind === 'None' ? ['None', step.because.code] : [step.kind, step.node]));
}

function takers(...priorities: readonly number[]): readonly Seeker[] {
  return priorities.map((priority, index) => seeker(`p${index}`, 'taker', { priority }));
}

describe('where a pod finds room', () => {
  const full = room('full', cpu(1), ONE);
  const [a, b] = [room('a', cpu(1)), room('b', cpu(1))];
  const [leftA, leftB] = [room('leftA', cpu(1), [], LEAVES), room('leftB', cpu(1), [], LEAVES)];

  test.each<[string, readonly RoomNode[], string | undefined, readonly string[]]>([
    ['on the first node that has some', [full, a, b], undefined, ['Room', 'a']],
    ['on the node set aside for it before others', [a, b], 'b', ['Room', 'b']],
    ['on another node, where the one set aside for it has none yet', [leftA, b], 'leftA', ['Room', 'b']],
    ['on another node, where the one set aside for it is gone', [a], 'gone', ['Room', 'a']],
    ['where pods leave', [full, leftA, leftB], undefined, ['Await', 'leftA']],
    ['on the node set aside for it, where pods leave several', [full, leftA, leftB], 'leftB', ['Await', 'leftB']],
    ['on another node, where others have taken the one set aside', [full, leftA], 'full', ['Await', 'leftA']],
    ['on a node whose pods have to go', [full], undefined, ['Evict', 'full']],
    ['nowhere', [room('n', cpu(1), [running('own', 'taker')])], undefined, ['None', 'NoGiver']],
  ])('%s', (_, nodes, nominatedTo, expected) => {
    const state = stateOf(QUEUES, nodes);
    expect(found(makeRoom(state, [seeker('p', 'taker', {}, { nominatedTo })]))).toEqual([expected]);
  });

  test('the sentences name the node', () => {
    const texts = [a, leftA].map((node) => roomFor(stateOf(QUEUES, [node]), seeker('p', 'taker')).because);
    expect(texts).toMatchObject([
      { code: 'Room', text: 'there is room on node a' },
      { code: 'RoomIsMade', text: 'node leftA is set aside until the pods are gone that make room there' },
    ]);
  });

  test('those go that the laws name, in their order', () => {
    const pods = [running('spared', 'giver', { mayBePreempted: false }), running('v', 'giver', { startedAt: 5 })];
    const step = roomFor(stateOf(QUEUES, [room('n', cpu(2), pods)]), seeker('p', 'taker', { requests: cpu(2) }));
    expect(step).toMatchObject({ kind: 'Evict', node: 'n', isLastResort: true, because: { code: 'LastResort' } });
    expect(victimsOf(step)).toEqual(['v', 'spared']);
  });

  test.each([
    ['NeverPreempts', {}, { mayPreempt: false }],
    ['NotAboveDelay', {}, { waitingSince: -29_999 }],
    ['TakerDisabled', policyOf('Disabled'), {}],
    ['TakerNotUnderGuarantee', { guaranteed: cpu(0) }, {}],
    ['NotEnough', {}, { priority: -1 }],
    ['QueueNotFound', {}, { queue: 'deleted' }],
  ])('nobody goes by the laws: %s', (code, change, pod) => {
    const queues = [queue('taker', undefined, { guaranteed: cpu(100), ...change }), queue('giver')];
    expect(found(makeRoom(stateOf(queues, [full]), [seeker('p', 'taker', pod)]))).toEqual([['None', code]]);
  });

  test.each<[string, QueueAmounts, string]>([
    ['an amount of nothing is anywhere, even where others have too much', cpu(0), 'Room'],
    ['of a type that no node has there is none', new Map([['example.com/gpu', 1]]), 'None'],
  ])('%s', (_, requests, kind) => {
    const crowded = stateOf(QUEUES, [room('n', cpu(0), ONE)]);
    expect(roomFor(crowded, seeker('p', 'taker', { requests })).kind).toBe(kind);
  });
});

describe('what is promised', () => {
  const [first, second] = [room('n', cpu(1)), room('m', cpu(1), ONE)];

  test.each([
    ['of the same priority', [0, 0], ['Evict', 'm']],
    ['of lower priority', [1, 0], ['Evict', 'm']],
    ['of higher priority (S0-23)', [0, 1], ['Room', 'n']],
  ])('to an earlier pod, for a pod %s', (_, priorities, expected) => {
    const steps = makeRoom(stateOf(QUEUES, [first, second]), takers(...priorities));
    expect(found(steps)).toEqual([['Room', 'n'], expected]);
  });

  test.each([
    ['of the same priority', 0, ['Evict', 'm']],
    ['of higher priority (S0-23)', 1, ['Room', 'n']],
  ])('by a nomination, for a pod %s', (_, priority, expected) => {
    const promised = [waiting('other', 'elsewhere', { priority: 0 })];
    const state = stateOf(QUEUES, [room('n', cpu(1), [], { promised }), second]);
    expect(found(makeRoom(state, takers(priority)))).toEqual([expected]);
  });

  test('to the pod itself stands in its way nowhere', () => {
    const own = seeker('p', 'taker', {}, { nominatedTo: 'n' });
    const state = stateOf(QUEUES, [room('n', cpu(2), [], { promised: [own.pod] })]);
    expect(found(makeRoom(state, [own, ...takers(0, 0)]))).toEqual([
      ['Room', 'n'],
      ['Room', 'n'],
      ['None', 'NoGiver'],
    ]);
  });

  test('is neither the room of leaving pods nor that of victims a second time', () => {
    const nodes = [room('n', cpu(2), ONE, LEAVES)];
    const steps = makeRoom(stateOf(QUEUES, nodes), takers(0, 0, 0));
    expect(found(steps)).toEqual([
      ['Await', 'n'],
      ['Evict', 'n'],
      ['None', 'NoGiver'],
    ]);
  });

  test('grows with each pod that gets room on one node', () => {
    const steps = makeRoom(stateOf(QUEUES, [room('n', cpu(2)), second]), takers(0, 0, 0));
    expect(found(steps)).toEqual([
      ['Room', 'n'],
      ['Room', 'n'],
      ['Evict', 'm'],
    ]);
  });
});

describe('what an earlier decision changes for the next one', () => {
  const two = [running('v', 'giver', { startedAt: 2 }), running('w', 'giver', { startedAt: 1 })];

  test('a pod goes for one, not for two', () => {
    const steps = makeRoom(stateOf(QUEUES, [room('n', cpu(2), two)]), takers(0, 0, 0));
    expect(steps.map(({ step }) => victimsOf(step))).toEqual([['v'], ['w'], []]);
  });

  test('the queue of the victim has less to give', () => {
    const queues = [
      queue('taker', undefined, { guaranteed: cpu(9) }),
      queue('giver', undefined, { guaranteed: cpu(1) }),
    ];
    const steps = makeRoom(stateOf(queues, [room('n', cpu(2), two)]), takers(0, 0));
    expect(found(steps)).toEqual([
      ['Evict', 'n'],
      ['None', 'NoGiver'],
    ]);
  });

  test.each([
    [1, [['v'], []]],
    [2, [['v'], ['w']]],
    [0, [[], []]],
  ])('a budget of %i is spent', (allowed, expected) => {
    const pods = two.map((pod) => ({ ...pod, budgets: ['ns/pdb', 'ns/other'] }));
    const state = { ...stateOf(QUEUES, [room('n', cpu(2), pods)]), budgets: new Map([['ns/pdb', allowed]]) };
    const steps = makeRoom(state, takers(0, 0));
    expect(steps.map(({ step }) => victimsOf(step))).toEqual(expected);
    if (allowed < 2) expect(steps[1]?.step.because.code).toBe('ReclaimBlocked');
  });

  test('nothing, where there was none', () => {
    const steps = makeRoom(stateOf(QUEUES, [room('n', cpu(1), ONE)]), [
      seeker('early', 'taker', { waitingSince: 0 }),
      seeker('due', 'taker'),
    ]);
    expect(found(steps)).toEqual([
      ['None', 'NotAboveDelay'],
      ['Evict', 'n'],
    ]);
  });
});

describe('for which pods their queue is charged', () => {
  const nodes = [room('n', cpu(2), [running('v', 'giver'), running('w', 'giver')])];
  const under = (guaranteed: number) => [queue('taker', undefined, { guaranteed: cpu(guaranteed) }), queue('giver')];

  test.each<[string, number, readonly string[], readonly string[]]>([
    ['those without a gate, once each', 2, ['p', 'q'], ['Evict', 'Evict']],
    ['those without a gate, also for each other', 1, ['p', 'q'], ['None', 'None']],
    ['those behind their gates, from the decision on', 1, [], ['Evict', 'None']],
    ['one of each', 2, ['q'], ['Evict', 'Evict']],
  ])('%s', (_, guaranteed, letIn, expected) => {
    const seekers = ['p', 'q'].map((name) => seeker(name, 'taker', {}, { isGated: !letIn.includes(name) }));
    const unplaced = letIn.map((name) => waiting(name, 'taker'));
    const steps = makeRoom(stateOf(under(guaranteed), nodes, unplaced), seekers);
    expect(steps.map(({ step }) => step.kind)).toEqual(expected);
  });

  test('room that is there counts as well as room that is made', () => {
    const free = [room('free', cpu(1)), ...nodes];
    expect(found(makeRoom(stateOf(under(1), free), takers(0, 0)))).toEqual([
      ['Room', 'free'],
      ['None', 'TakerNotUnderGuarantee'],
    ]);
  });
});

describe('whether a pod fits by everything but amounts', () => {
  const nodes = [room('a', cpu(2), ONE, LEAVES), room('b', cpu(1))];

  test('is asked with the pods that leave and the victims', () => {
    const asked = new Set<string>();
    const fits: Seeker['fits'] = (name, pods) => {
      asked.add(`${name} without ${pods.map(({ uid }) => uid).join(' and ')}`);
      return name === 'a' && pods.length === 2;
    };
    const step = roomFor(stateOf(QUEUES, nodes), seeker('p', 'taker', {}, { fits, nominatedTo: 'a' }));
    expect(victimsOf(step)).toEqual(['v']);
    expect([...asked]).toEqual(['b without ', 'a without leaves', 'a without leaves and v']);
  });

  test('is asked about a later pod with the victims of the earlier one', () => {
    const nodes = [room('n', cpu(2), [running('v', 'giver'), running('w', 'giver')])];
    const fits: Seeker['fits'] = (_, pods) => pods.length === 2;
    const steps = makeRoom(stateOf(QUEUES, nodes), [seeker('p', 'taker'), seeker('q', 'taker', {}, { fits })]);
    expect(steps.map(({ step }) => victimsOf(step))).toEqual([['v'], ['w']]);
  });

  test('decides where it goes', () => {
    const state = stateOf(QUEUES, nodes);
    const found = (nominatedTo?: string) =>
      roomFor(state, seeker('p', 'taker', {}, { fits: (name) => name === 'a', nominatedTo }));
    expect([found(), found('a'), found('b')]).toMatchObject(
      Array.from({ length: 3 }, () => ({ kind: 'Await', node: 'a' })),
    );
  });
});

test('what is promised to a pod behind its gate lets no other queue take from its queue (S2-10)', () => {
  const queues = [
    queue('a', undefined, { guaranteed: cpu(4) }),
    queue('b', undefined, { guaranteed: cpu(2) }),
    queue('c'),
  ];
  const pods = [running('b-1', 'b'), running('b-2', 'b'), running('c-1', 'c', { priority: 1 })];
  const state = stateOf(queues, [room('n', cpu(3), pods), room('free', cpu(1))]);
  const steps = makeRoom(state, [seeker('b-3', 'b'), seeker('a-1', 'a')]);
  expect(steps.map(({ step }) => step.kind)).toEqual(['Room', 'None']);
});

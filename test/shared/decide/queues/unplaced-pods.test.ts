import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { whyWaiting } from '#shared/domain/queue/let-in.ts';
import type { WaitingPod } from '#shared/domain/queue/queue-pod.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { readRoomState } from '#shared/decide/queues/room-state.ts';
import { UnplacedPods } from '#shared/decide/queues/unplaced-pods.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode } from '#test/build/cluster.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const letIn = (plan: QueuePlan) => plan.letIn.map(({ name }) => name);
const returned = (plan: QueuePlan) => plan.returned.map(({ pod, because }) => [pod.name, because.code]);
const counted = (plan: QueuePlan) =>
  usedBy(plan.question.usage, plan.directory.tree.indexes.get('of-shop') ?? -1, 'cpu');

const affinityTo = (app: string) => ({
  affinity: {
    podAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app } } },
      ],
    },
  },
});
const REFUSED = { spec: {}, conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }] };
const BIG: WatchedPod = { name: 'big', admittedTo: 'of-shop', cpu: 9, ...REFUSED };

/** Two nodes of 8 CPUs, a queue that may have 10, and two pods of 4 that wait. */
function world(big: Partial<WatchedPod> = {}) {
  const made = queueWorld([queueFor('shop', { max: { cpu: 10 } })], { 'node-0': 8, 'node-1': 8 });
  made.see({ ...BIG, ...big });
  for (const name of ['s1', 's2']) made.see({ name, gates: [GATE], cpu: 4, createdAt: 1 });
  const promises = new UnplacedPods();
  return {
    ...made,
    at: (minutes: number) => made.plan(true, 'Guarantees', { promises, now: minutes * MINUTE_MS }),
  };
}

describe('a pod that was let in', () => {
  test('counts for its queue for five minutes without a node, then gives its share back', () => {
    const { at } = world();
    expect([letIn(at(4)), returned(at(4)), counted(at(4))]).toEqual([[], [], 9_000]);
    expect([letIn(at(5)), returned(at(5)), counted(at(5))]).toEqual([
      ['shop/s1', 'shop/s2'],
      [['big', 'NoNodeFound']],
      0,
    ]);
  });

  test('has that deadline also where its mark names a time that has not come', () => {
    const { at } = world({ admittedAt: 4_000_000_000 });
    expect([returned(at(5)), returned(at(7))]).toEqual([[], [['big', 'NoNodeFound']]]);
  });

  test.each<[string, Partial<WatchedPod>, string]>([
    ['that waits for the gate of another controller', { cpu: 1, gates: ['example.com/other'] }, 'OtherGate'],
    ['that fits on no node by its selector', { cpu: 1, spec: { nodeSelector: { zone: 'none' } } }, 'NoNodeFound'],
    ['that was nominated to a node that is gone', { nominatedTo: 'node-9' }, 'NoNodeFound'],
  ])('%s gives it back as well', (_, big, code) => {
    const { at } = world(big);
    expect([returned(at(4)), returned(at(6))]).toEqual([[], [['big', code]]]);
    expect(letIn(at(6))).toEqual(['shop/s1', 'shop/s2']);
  });

  test.each<[string, Partial<WatchedPod>]>([
    ['wait for a gate of their tenant', { gates: ['example.com/mine'] }],
    ['fit on no node for want of another pod', { spec: affinityTo('none') }],
  ])('and others after it, that %s, are let in twice over at most', (_, change) => {
    const made = queueWorld([queueFor('shop', { max: { cpu: 4 } })], { 'node-0': 64 });
    const promises = new UnplacedPods({ checksPerPass: 100 });
    const at = (minutes: number) => made.plan(true, 'Guarantees', { promises, now: minutes * MINUTE_MS });
    const entered: string[] = [];
    for (let index = 0; index < 40; index += 1) made.see({ name: `p${index}`, gates: [GATE], createdAt: 1 });
    for (let minutes = 0; minutes < 60; minutes += 6) {
      for (const name of letIn(at(minutes)).map((each) => each.replace('shop/', ''))) {
        entered.push(name);
        made.see({ ...REFUSED, name, admittedTo: 'of-shop', admittedAt: minutes * 60, createdAt: 1, ...change });
      }
    }
    expect([entered.length, new Set(entered).size]).toEqual([8, 8]);
    const waiting = at(61).held.find(({ name }) => name === 'shop/p39') as WaitingPod;
    const { question, decision } = at(61);
    expect(whyWaiting(question, decision, waiting)).toMatchObject({
      code: 'SharesOutstanding',
      text: expect.stringContaining('may start at any time and request 8 cpu') as string,
    });
  });

  test('and others after it, for which no node is large enough, hold up nobody', () => {
    const made = queueWorld([queueFor('shop', { max: { cpu: 9 } })]);
    const at = made.plan.bind(undefined, true, 'Guarantees');
    const topologySpreadConstraints = [{ topologyKey: 'zone', maxSkew: 1, whenUnsatisfiable: 'ScheduleAnyway' }];
    const spec = { topologySpreadConstraints };
    for (let index = 0; index < 5; index += 1) made.see({ ...BIG, ...REFUSED, spec, name: `big-${index}` });
    made.see({ name: 's1', gates: [GATE], cpu: 4, createdAt: 1 });
    expect(letIn(at({ now: 6 * MINUTE_MS }))).toEqual(['shop/s1']);
  });

  test('and is being deleted gives it back at once', () => {
    const { at } = world({ deletionAt: 30 });
    expect([returned(at(0)), letIn(at(0))]).toEqual([[['big', 'BeingDeleted']], ['shop/s1', 'shop/s2']]);
  });

  test('stands in its queue again when a node can hold it, before younger pods, and never above the maximum', () => {
    const { at, snapshot, see } = world();
    expect(returned(at(6))).toEqual([['big', 'NoNodeFound']]);
    putNode(snapshot, buildNode({ name: 'node-2', allocatable: { cpu: '16' } }));
    expect([returned(at(7)), letIn(at(7))]).toEqual([[], ['shop/big']]);
    for (const name of ['s1', 's2']) see({ name, node: 'node-0', cpu: 4, admittedTo: 'of-shop', phase: 'Running' });
    const full = at(8);
    expect([letIn(full), full.held.map(({ name }) => name)]).toEqual([[], ['shop/big']]);
  });

  test('that is not placed although a node seems to have room gives its share back after five more minutes', () => {
    const { at } = world({ cpu: 8 });
    expect([letIn(at(6)), returned(at(10)), returned(at(11))]).toEqual([['shop/big'], [], [['big', 'NotPlaced']]]);
    expect(letIn(at(11))).toEqual(['shop/s1', 'shop/s2']);
  });

  test('counts again once it has a node', () => {
    const { at, see } = world();
    see({ ...BIG, node: 'node-0', phase: 'Running' });
    expect([returned(at(60)), counted(at(60))]).toEqual([[], 9_000]);
  });
});

test('a waiting pod that is being deleted is not let in', () => {
  const { see, plan } = queueWorld([queueFor('shop')]);
  see({ name: 'a', gates: [GATE], deletionAt: 30 });
  expect(plan().letIn).toEqual([]);
});

test('a pod that the API server refuses to change leaves its share to others until the next attempt', () => {
  const { see, plan } = queueWorld([queueFor('shop', { max: { cpu: 1 } })]);
  for (const name of ['a', 'b']) see({ name, gates: [GATE], createdAt: name === 'a' ? 1 : 2 });
  const because = { code: 'CannotBeLetIn', text: '', facts: {} };
  const refusing = plan(false, 'Guarantees', { whyRefused: (uid) => (uid === 'uid-a' ? because : undefined) });
  expect([letIn(plan()), letIn(refusing), returned(refusing)]).toEqual([
    ['shop/a'],
    ['shop/b'],
    [['a', 'CannotBeLetIn']],
  ]);
});

test('no queue goes below its guarantee for a pod of its own that has no node', () => {
  const { see, plan, pods, snapshot } = queueWorld([queueFor('shop'), { metadata: { name: 'other' } }]);
  see({ name: 'bound', node: 'node-0', admittedTo: 'other', phase: 'Running' });
  see({ name: 'fresh', admittedTo: 'other' });
  see({ ...BIG, name: 'refused', admittedTo: 'other', cpu: 1 });
  const rest = { now: 0, isLeaving: () => false, isRefused: () => false, promises: [] };
  const state = finish(readRoomState({ plan: plan(), pods, snapshot, ...rest }));
  const [own, unplaced] = [state.own, state.unplaced].map((each) => each?.get('other')?.get('cpu'));
  expect([own, unplaced]).toEqual([2_000, 1_000]);
});

import { describe, expect, test } from 'vitest';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import { putNode, removeNode } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { buildNode } from '#test/build/cluster.ts';
import { GATE, type NodeSizes, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const OUTSIDE = { namespace: 'elsewhere', phase: 'Running' };
const RUNNING = { admittedTo: 'of-shop', phase: 'Running' };
const TAINT = { key: 'example.com/gpu', value: 'true', effect: 'NoSchedule' };
const TOLERATION = { key: 'example.com/gpu', operator: 'Exists', effect: 'NoSchedule' };

type World = ReturnType<typeof queueWorld>;

function world(nodes: NodeSizes = { 'node-0': 8 }, spec: object = {}): World {
  return queueWorld([queueFor('shop', spec)], nodes);
}

function change(made: World, name: string, fields: Partial<Node>): void {
  putNode(made.snapshot, { ...buildNode({ name, allocatable: { cpu: '8' } }), ...fields });
}

const cpu = (plan: QueuePlan): unknown => plan.total.get('cpu');
const used = (plan: QueuePlan, queue = 'of-shop') =>
  usedBy(plan.used, plan.directory.tree.indexes.get(queue) ?? -1, 'cpu');
const letIn = (plan: QueuePlan) => plan.decision.letIn.map(({ pod }) => pod.name);

describe('what pods outside of queues take', () => {
  test.each<[string, Partial<WatchedPod>, number]>([
    ['on a node that does not exist', { node: 'no-such-node', cpu: 1_000 }, 8_000],
    ['more than the whole node', { node: 'node-0', cpu: 1_000 }, 0],
    ['what the node has', { node: 'node-0', cpu: 3 }, 5_000],
  ])('%s', (_, pod, total) => {
    const made = world();
    made.see({ name: 'other', ...OUTSIDE, ...pod });
    expect(cpu(made.plan())).toBe(total);
  });

  test('a thousand pods that name one node take that node, and no other', () => {
    const made = world({ 'node-0': 8, 'node-1': 8 });
    for (let index = 0; index < 1_000; index += 1) made.see({ name: `o-${index}`, ...OUTSIDE, node: 'node-0', cpu: 8 });
    expect(cpu(made.plan())).toBe(8_000);
  });

  test('at most what pods that were let in leave of the node', () => {
    const made = world();
    made.see({ name: 'a', ...RUNNING, node: 'node-0', cpu: 6 });
    made.see({ name: 'other', ...OUTSIDE, node: 'node-0', cpu: 1_000 });
    expect([cpu(made.plan()), used(made.plan())]).toEqual([6_000, 6_000]);
  });

  test('nothing that its kubelet has not taken in and will reject, on whatever node a tenant names', () => {
    const made = world({ 'node-0': 8, 'node-1': 8 });
    for (const node of ['node-0', 'node-1']) made.see({ name: node, namespace: 'elsewhere', node, cpu: 1_000 });
    expect(cpu(made.plan())).toBe(16_000);
    made.see({ name: 'fits', namespace: 'elsewhere', node: 'node-0', cpu: 7 });
    made.see({ name: 'too', namespace: 'elsewhere', node: 'node-0', cpu: 2 });
    expect(cpu(made.plan())).toBe(9_000);
    made.see({ name: 'too', namespace: 'elsewhere', node: 'node-0', cpu: 2, startedAt: 1 });
    expect(cpu(made.plan())).toBe(14_000);
  });

  test('nothing of a node that left', () => {
    const made = world({ 'node-0': 8, 'node-1': 8 });
    made.see({ name: 'other', ...OUTSIDE, node: 'node-1', cpu: 8 });
    removeNode(made.snapshot, 'node-1');
    expect(cpu(made.plan())).toBe(8_000);
  });
});

describe('what pods of a managed namespace count that were never let in', () => {
  test.each<[string, Partial<WatchedPod>, number]>([
    ['nothing on a node that does not exist', { node: 'no-such-node', cpu: 1_000 }, 0],
    ['what the node has at most', { node: 'node-0', cpu: 1_000 }, 8_000],
    ['what they request', { node: 'node-0', cpu: 3 }, 3_000],
  ])('%s', (_, pod, amount) => {
    const made = world();
    made.see({ name: 'bound-by-hand', phase: 'Running', ...pod });
    expect(used(made.plan())).toBe(amount);
  });

  test('what pods that were let in leave of the node, together', () => {
    const made = world();
    made.see({ name: 'a', ...RUNNING, node: 'node-0', cpu: 6 });
    for (const name of ['b', 'c', 'd']) made.see({ name, phase: 'Running', node: 'node-0', cpu: 100 });
    expect(used(made.plan())).toBe(8_000);
  });

  test('the same in whatever order the watch shows pods of one priority and age', () => {
    const pods = [
      { name: 'a', namespace: 'elsewhere', node: 'node-0', cpu: 6 },
      { name: 'b', node: 'node-0', cpu: 6 },
    ];
    for (const shown of [pods, pods.toReversed()]) {
      const made = world();
      for (const pod of shown) made.see({ ...pod, phase: 'Running', startedAt: 10 });
      expect([cpu(made.plan()), used(made.plan())]).toEqual([2_000, 2_000]);
    }
  });

  test('the same for those that were there before the label', () => {
    const made = world();
    made.see({ name: 'a', namespace: 'late', node: 'no-such-node', cpu: 1_000, phase: 'Running' });
    made.see({ name: 'b', namespace: 'late', node: 'node-0', cpu: 1_000, phase: 'Running' });
    made.manage('late', { team: 'shop', 'plimsoll.dev/queues': 'managed' });
    expect(used(made.plan())).toBe(8_000);
  });

  test('a pod that was let in counts on a node that is not seen yet, and no longer once its node is gone', () => {
    const made = world({ 'node-0': 8 }, { max: { cpu: 4 } });
    made.see({ name: 'a', admittedTo: 'of-shop', node: 'node-1', cpu: 4 });
    made.see({ name: 'b', gates: [GATE], cpu: 4 });
    expect(letIn(made.plan())).toEqual([]);
    made.see({ name: 'a', ...RUNNING, node: 'node-1', cpu: 4, startedAt: 1 });
    expect(letIn(made.plan())).toEqual(['shop/b']);
  });

  test('a queue is not stopped by pods of another one that name a node', () => {
    const made = queueWorld([queueFor('shop'), queueFor('loud')]);
    made.manage('loud', { team: 'loud', 'plimsoll.dev/queues': 'managed' });
    for (const [index, node] of ['no-such-node', 'other'].entries())
      made.see({ name: `loud-${index}`, namespace: 'loud', node, cpu: 1_000, phase: 'Running' });
    made.see({ name: 'a', gates: [GATE], cpu: 8 });
    for (const isReclaiming of [false, true]) {
      expect(made.plan(isReclaiming).letIn.map(({ name }) => name)).toEqual(['shop/a']);
    }
  });
});

describe('nodes that take no new pods', () => {
  test.each<[string, Partial<Node>, number]>([
    ['a cordoned node', { isUnschedulable: true }, 8_000],
    ['a node that is not ready', { isUnready: true }, 8_000],
    ['a lost node', { taints: [{ key: 'node.kubernetes.io/unreachable', value: '', effect: 'NoExecute' }] }, 8_000],
    [
      'a node under disk pressure',
      { taints: [{ key: 'node.kubernetes.io/disk-pressure', value: '', effect: 'NoSchedule' }] },
      8_000,
    ],
    [
      'a node that an autoscaler removes',
      { taints: [{ key: 'ToBeDeletedByClusterAutoscaler', value: '1', effect: 'NoSchedule' }] },
      8_000,
    ],
    ['a node for pods of another kind', { taints: [TAINT] }, 8_000],
    ['a node that is only avoided', { taints: [{ ...TAINT, effect: 'PreferNoSchedule' }] }, 16_000],
    ['an open node', {}, 16_000],
  ])('%s', (_, fields, total) => {
    const made = world({ 'node-0': 8 });
    change(made, 'node-1', fields);
    made.see({ name: 'other', ...OUTSIDE, node: 'node-1', cpu: total === 8_000 ? 5 : 0 });
    expect(cpu(made.plan())).toBe(total);
  });

  const tolerant = (toleration: object): WatchedPod => ({
    name: 'a',
    gates: [GATE],
    spec: { tolerations: [toleration] },
  });

  test.each<[string, WatchedPod, number]>([
    ['a dedicated node counts while a pod waits for it', tolerant(TOLERATION), 16_000],
    [
      'a dedicated node counts while a pod of queues runs there',
      { ...tolerant(TOLERATION), gates: [], ...RUNNING, node: 'node-1' },
      16_000,
    ],
    ['a pod that tolerates everything opens no dedicated node for all', tolerant({ operator: 'Exists' }), 8_000],
    ['a pod that tolerates another taint does not', tolerant({ ...TOLERATION, key: 'example.com/other' }), 8_000],
  ])('%s', (_, pod, total) => {
    const made = world();
    change(made, 'node-1', { taints: [TAINT] });
    made.see(pod);
    expect(cpu(made.plan())).toBe(total);
  });

  test('what is held on a closed node counts as used, and nothing of the open ones stays idle for it', () => {
    const made = queueWorld([queueFor('shop'), queueFor('bank')], { 'node-0': 8 });
    made.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    change(made, 'node-1', { isUnschedulable: true });
    for (let index = 0; index < 8; index += 1) made.see({ name: `a-${index}`, ...RUNNING, node: 'node-1' });
    for (let index = 0; index < 9; index += 1) made.see({ name: `b-${index}`, namespace: 'bank', gates: [GATE] });
    const plan = made.plan(true);
    expect([used(plan), plan.letIn.length, plan.seeking.length, plan.held.length]).toEqual([8_000, 8, 0, 1]);
    expect(
      ['of-bank', 'of-shop'].map((name) =>
        deservedOf(plan.shares, plan.directory.tree.indexes.get(name) ?? -1).get('cpu'),
      ),
    ).toEqual([4_000, 4_000]);
  });

  test('where there is only a control plane pods go in, so that an autoscaler sees them', () => {
    const made = world({});
    const taints = [{ key: 'node-role.kubernetes.io/control-plane', value: '', effect: 'NoSchedule' }];
    change(made, 'node-1', { taints });
    made.see({ name: 'a', gates: [GATE] });
    expect(letIn(made.plan())).toEqual(['shop/a']);
    change(made, 'node-2', {});
    expect(cpu(made.plan())).toBe(8_000);
  });

  test('without any open node nothing goes in', () => {
    const made = world({});
    change(made, 'node-1', { isUnschedulable: true });
    made.see({ name: 'a', gates: [GATE] });
    expect(letIn(made.plan())).toEqual([]);
  });
});

describe('a pod that does not end', () => {
  const old = { name: 'old', ...RUNNING, cpu: 4, deletionAt: 100 };
  const seen = (made: World, now: number) => letIn(made.plan(false, 'Guarantees', { now }));

  test('frees the share of its queue when a ResourceQuota would have released it', () => {
    const made = world({ 'node-0': 8, 'node-1': 8 }, { max: { cpu: 4 } });
    change(made, 'node-1', { isUnready: true });
    made.see({ ...old, node: 'node-1' });
    made.see({ name: 'new', gates: [GATE], cpu: 4, createdAt: 100 });
    expect([seen(made, 130_000), seen(made, 130_001)]).toEqual([[], ['shop/new']]);
    made.gone('old');
    expect(seen(made, 130_001)).toEqual(['shop/new']);
  });

  test('still holds room of a node that is open', () => {
    const made = world();
    made.see({ ...old, node: 'node-0' });
    for (const name of ['x', 'y']) made.see({ name, gates: [GATE], cpu: 4 });
    const plan = made.plan(false, 'Guarantees', { now: 200_000 });
    expect([used(plan), cpu(plan), letIn(plan)]).toEqual([0, 4_000, ['shop/x']]);
  });
});

describe('a type that no node reports', () => {
  const GPU = 'example.com/gpu';
  const wants = { gates: [GATE], spec: { containers: [{ name: 'm', resources: { requests: { [GPU]: '1' } } }] } };

  test('is shared as if there were exactly what is guaranteed of it', () => {
    const made = queueWorld([
      queueFor('shop', { guaranteed: { [GPU]: '2' } }),
      queueFor('bank', { guaranteed: { [GPU]: '1' } }),
    ]);
    made.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    for (const namespace of ['shop', 'bank'])
      for (let index = 0; index < 5; index += 1) made.see({ ...wants, name: `${namespace}-${index}`, namespace });
    expect(letIn(made.plan())).toEqual(['bank/bank-0', 'shop/shop-0', 'shop/shop-1']);
  });

  test('is not limited where no queue has a guarantee of it', () => {
    const made = world();
    for (const name of ['a', 'b', 'c']) made.see({ ...wants, name });
    expect(letIn(made.plan()).length).toBe(3);
  });

  test('a type of closed nodes is not one of these', () => {
    const made = world();
    putNode(made.snapshot, { ...buildNode({ name: 'node-1', allocatable: { [GPU]: '1' } }), isUnschedulable: true });
    made.see({ ...wants, name: 'a' });
    expect([letIn(made.plan()), made.plan().total.get(GPU)]).toEqual([[], 0]);
  });
});

test('a resize that is under way counts, so that a queue cannot grow past its maximum unseen', () => {
  const made = world({ 'node-0': 8 }, { max: { cpu: 4 } });
  made.see({ name: 'a', ...RUNNING, node: 'node-0', cpu: 2 });
  made.see({ name: 'a', ...RUNNING, node: 'node-0', cpu: 6 });
  const plan = made.plan();
  expect([used(plan), plan.overused.length]).toEqual([6_000, 1]);
});

describe('a queue that bounds or guarantees pods', () => {
  test('counts them, those without requests and those on nodes included', () => {
    const made = world({ 'node-0': 8 }, { max: { pods: 3 } });
    made.see({ name: 'a', ...RUNNING, node: 'node-0' });
    made.see({ name: 'daemon', phase: 'Running', node: 'node-0', spec: { containers: [{ name: 'm' }] } });
    for (const name of ['x', 'y']) made.see({ name, gates: [GATE], spec: { containers: [{ name: 'm' }] } });
    const plan = made.plan();
    expect([letIn(plan), usedBy(plan.used, 1, 'pods')]).toEqual([['shop/x'], 2_000]);
  });

  test('elsewhere they are no type', () => {
    const made = world();
    made.see({ name: 'a', ...RUNNING, node: 'node-0' });
    expect(made.plan().used.has('pods')).toBe(false);
  });

  test('shares them as nodes have them', () => {
    const made = queueWorld([queueFor('shop', { guaranteed: { pods: 100 } }), queueFor('bank')]);
    made.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    for (let index = 0; index < 20; index += 1)
      made.see({ name: `b-${index}`, namespace: 'bank', gates: [GATE], cpu: 0 });
    for (let index = 0; index < 100; index += 1) made.see({ name: `s-${index}`, gates: [GATE], cpu: 0 });
    const names = letIn(made.plan());
    expect([names.length, names.filter((name) => name.startsWith('bank')).length]).toEqual([110, 10]);
  });
});

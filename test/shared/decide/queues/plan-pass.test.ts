import { describe, expect, test } from 'vitest';
import { decodeQueue, queueDirectory } from '#shared/api/queue.ts';
import { deservedOf } from '#shared/domain/queue/shares.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { valueOf } from '#test/build/value-of.ts';
import { GATE, queueFor, queueWorld } from './queue-world.ts';

const letIn = (plan: QueuePlan) => plan.decision.letIn.map(({ pod }) => pod.name);
const used = (plan: QueuePlan, queue: string) =>
  usedBy(plan.question.usage, plan.directory.tree.indexes.get(queue) ?? -1, 'cpu');

describe('the plan of a pass', () => {
  test('waiting pods go in up to what there is, the oldest first', () => {
    const world = queueWorld([queueFor('shop')]);
    for (const index of [3, 1, 2]) world.see({ name: `pod-${index}`, gates: [GATE], cpu: 4, createdAt: index });
    const plan = world.plan();
    expect([letIn(plan), plan.held.map(({ name }) => name)]).toEqual([['shop/pod-1', 'shop/pod-2'], ['shop/pod-3']]);
  });

  test('what pods outside of queues request on nodes is not shared; declared capacity is, as it stands', () => {
    const outside = { name: 'other', namespace: 'elsewhere', node: 'node-0', cpu: 3, phase: 'Running' };
    const world = queueWorld([queueFor('shop')]);
    world.see(outside);
    expect(world.plan().total.get('cpu')).toBe(5_000);
    const declared = queueWorld([queueFor('shop'), { metadata: { name: 'root' }, spec: { capacity: { cpu: 20 } } }]);
    declared.see(outside);
    expect(declared.plan().total.get('cpu')).toBe(20_000);
  });

  test('a declared number of pods bounds them', () => {
    const world = queueWorld([
      queueFor('shop'),
      { metadata: { name: 'root' }, spec: { capacity: { cpu: 20, pods: 2 } } },
    ]);
    world.see({ name: 'running', node: 'node-0', phase: 'Running', admittedTo: 'of-shop' });
    for (const index of [1, 2]) world.see({ name: `pod-${index}`, gates: [GATE], createdAt: index });
    expect(letIn(world.plan())).toEqual(['shop/pod-1']);
  });

  test('a pod that was let in counts for the queue that it was let in to, whatever its labels and queues say later (S2-35)', () => {
    const world = queueWorld([queueFor('shop'), queueFor('shop', {}, 'other')]);
    const running = { name: 'a', node: 'node-0', phase: 'Running', admittedTo: 'of-shop', cpu: 2 };
    world.see(running);
    world.see({ ...running, labels: { [GATE]: 'other' } });
    expect([used(world.plan(), 'of-shop'), used(world.plan(), 'other')]).toEqual([2_000, 0]);
  });

  test('facts of a pod are those of its annotation, also if two pods of one application differ (S2-30, S2-35)', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'a', admittedTo: 'of-shop', spec: { priorityClassName: 'edited-later' } });
    world.see({
      name: 'b',
      gates: [GATE],
      labels: { 'plimsoll.dev/application': 'app' },
      spec: { preemptionPolicy: 'Never' },
    });
    expect(world.pods.get('uid-a')?.admitted).toMatchObject({ mayPreempt: false, mayBePreempted: false });
    expect(world.plan().decision.letIn.map(({ pod }) => [pod.application, pod.mayPreempt])).toEqual([
      ['shop/app', false],
    ]);
  });

  test('a pod without the gate in a managed namespace, as of a DaemonSet, counts for its queue', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'daemon', node: 'node-0', phase: 'Running', cpu: 3 });
    expect(used(world.plan(), 'of-shop')).toBe(3_000);
  });

  test('a pod that was on its node before its namespace was managed counts for its queue from then on', () => {
    const world = queueWorld([queueFor('late')]);
    world.see({ name: 'early', namespace: 'late', node: 'node-0', phase: 'Running', cpu: 3 });
    expect([used(world.plan(), 'of-late'), world.plan().total.get('cpu')]).toEqual([0, 5_000]);
    world.manage('late', { team: 'late', 'plimsoll.dev/queues': 'managed' });
    expect([used(world.plan(), 'of-late'), world.plan().total.get('cpu')]).toEqual([3_000, 8_000]);
  });

  test('the annotation counts for nothing where no policy guards it', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'forged', namespace: 'elsewhere', node: 'node-0', admittedTo: 'of-shop', cpu: 3 });
    expect([used(world.plan(), 'of-shop'), world.plan().total.get('cpu')]).toEqual([0, 5_000]);
  });

  test('waiting pods of a namespace that is not managed any longer are let in, without a limit', () => {
    const world = queueWorld([queueFor('shop', { max: { cpu: 0 } })]);
    world.see({ name: 'a', gates: [GATE] });
    expect([letIn(world.plan()), world.plan().released]).toEqual([[], []]);
    world.manage('shop', { team: 'shop' });
    expect(world.plan().released.map(({ name }) => name)).toEqual(['a']);
  });

  test('a waiting pod stands in another queue as soon as the queues change', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'a', gates: [GATE] });
    const directory = queueDirectory([valueOf(decodeQueue(queueFor('shop', {}, 'renamed')))]);
    const plans = [world.plan(), world.plan(false, 'Guarantees', { directory })];
    expect(plans.map(({ letIn: [pod] }) => pod?.queue)).toEqual(['of-shop', 'renamed']);
  });

  test('a pod without a queue waits, and is told why', () => {
    const world = queueWorld([queueFor('bank')]);
    world.see({ name: 'a', gates: [GATE] });
    world.see({ name: 'b', gates: [GATE], labels: { [GATE]: 'of-bank' } });
    const plan = world.plan();
    expect([letIn(plan), plan.homeless.map(({ because }) => because.code)]).toEqual([
      [],
      ['NoQueue', 'NamespaceNotAdmitted'],
    ]);
  });

  test('pods of a deleted queue go on, and count for the whole', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'a', node: 'node-0', phase: 'Running', admittedTo: 'deleted', cpu: 6 });
    for (const index of [1, 2, 3]) world.see({ name: `pod-${index}`, gates: [GATE], createdAt: index });
    const plan = world.plan();
    expect([letIn(plan).length, used(plan, 'root'), deservedOf(plan.shares, 1).get('cpu')]).toEqual([2, 6_000, 2_000]);
  });
});

describe('the pods of queues', () => {
  test('each change and each end of a pod, also of one outside of queues, starts a pass (S0-25)', () => {
    const { pods, see } = queueWorld([]);
    const steps = [
      () => see({ name: 'a', gates: [GATE] }),
      () => see({ name: 'a', admittedTo: 'q' }),
      () => see({ name: 'a', admittedTo: 'q', phase: 'Succeeded' }),
      () => pods.gone('uid-of-another'),
    ];
    const changes = steps.map((step) => {
      const before = pods.changes;
      step();
      return pods.changes > before;
    });
    expect(changes).toEqual([true, true, true, true]);
    expect(pods.get('uid-a')).toBeUndefined();
  });

  test('a pod that was let in counts as let in before the watch shows it, and after an older state of it', () => {
    const world = queueWorld([queueFor('shop', { max: { cpu: 1 } })]);
    for (const name of ['a', 'b']) world.see({ name, gates: [GATE] });
    expect(letIn(world.plan())).toEqual(['shop/a']);
    world.pods.letIn('uid-a', {
      queue: 'of-shop',
      application: '',
      mayPreempt: true,
      mayBePreempted: true,
      at: 0,
      decision: '',
    });
    expect(letIn(world.plan())).toEqual([]);
    world.see({ name: 'a', gates: [GATE] });
    expect(letIn(world.plan())).toEqual([]);
  });

  test('its other scheduling gates are known, so that they stay', () => {
    const { pods, see } = queueWorld([]);
    see({ name: 'a', gates: ['example.com/x', GATE, 'example.com/y'] });
    expect(pods.get('uid-a')?.otherGates).toEqual(['example.com/x', 'example.com/y']);
  });
});

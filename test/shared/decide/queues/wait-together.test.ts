import { describe, expect, test } from 'vitest';
import { reason } from '#shared/domain/base/because.ts';
import { whyWaiting } from '#shared/domain/queue/let-in.ts';
import { usedBy } from '#shared/domain/queue/usage.ts';
import type { QueuePlan } from '#shared/decide/queues/plan-pass.ts';
import { randomSource } from '#test/fakes/random-source.ts';
import { GATE, queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

const LABELS = (gang: string, size: number, min = size) => ({
  'plimsoll.dev/gang': gang,
  'plimsoll.dev/gang-size': `${size}`,
  'plimsoll.dev/gang-min': `${min}`,
});

function seeGang(
  world: ReturnType<typeof queueWorld>,
  gang: string,
  { size, min = size, there = size, ...fields }: Partial<WatchedPod> & { size: number; min?: number; there?: number },
): void {
  for (let index = 0; index < there; index += 1)
    world.see({ gates: [GATE], labels: LABELS(gang, size, min), ...fields, name: `${gang}-${index}` });
}

const starting = (plan: QueuePlan) => plan.starting.map(({ name, members = [] }) => [name, members.length]);
const letIn = (plan: QueuePlan) => plan.letIn.map(({ name }) => name);
const aside = (plan: QueuePlan) => plan.outOfGang.map(({ pod, because }) => [pod.name, because.text]);
const whyHeld = (plan: QueuePlan) =>
  plan.held.map((pod) => [pod.name, whyWaiting(plan.question, plan.decision, pod).text]);

describe('a gang is one wish of its queue', () => {
  test('goes in when all of its pods fit at once, none before', () => {
    const world = queueWorld([queueFor('shop')]);
    seeGang(world, 'train', { size: 4, cpu: 2 });
    world.see({ name: 'single', gates: [GATE], createdAt: 1 });
    const plan = world.plan();
    expect([starting(plan), letIn(plan), plan.held.map(({ name }) => name)]).toEqual([
      [['shop/train', 4]],
      [],
      ['shop/single'],
    ]);
    world.see({ name: 'taken', node: 'node-0', phase: 'Running', admittedTo: 'of-shop', cpu: 1 });
    const later = world.plan();
    const because = 'waits for 1 cpu: queue of-shop is at its deserved 8';
    expect([starting(later), letIn(later)]).toEqual([[], ['shop/single']]);
    expect(whyHeld(later)).toEqual(
      [0, 1, 2, 3].map((index) => [`shop/train-${index}`, because.replace('1 cpu', '2 cpu')]),
    );
  });

  test('its pods go in with its name and minimum, and so do those that come once it runs', () => {
    const world = queueWorld([queueFor('shop')]);
    seeGang(world, 'train', { size: 4, min: 2, there: 3 });
    world.see({ name: 'single', gates: [GATE] });
    const letInAs = { name: 'train', min: 2 };
    expect(world.plan().starting[0]?.members?.map((pod) => pod.letInAs)).toEqual([letInAs, letInAs, letInAs]);
    for (const index of [0, 1])
      world.see({ name: `train-${index}`, labels: LABELS('train', 4, 2), admittedTo: 'of-shop', node: 'node-0' });
    expect(world.plan().letIn.map((pod) => [pod.name, pod.letInAs])).toEqual([
      ['shop/single', undefined],
      ['shop/train-2', letInAs],
    ]);
  });

  test('whose pods other gates hold waits for these, holds nothing, and lets others of a strict queue pass', () => {
    const world = queueWorld([queueFor('shop', { ordering: 'Strict' })]);
    seeGang(world, 'train', { size: 2 });
    world.see({ name: 'train-1', gates: ['kueue.x-k8s.io/admission', GATE], labels: LABELS('train', 2) });
    world.see({ name: 'single', gates: [GATE], createdAt: 1 });
    const because = 'waits until the other scheduling gates of gang shop/train are off: kueue.x-k8s.io/admission';
    expect([starting(world.plan()), letIn(world.plan()), aside(world.plan())]).toEqual([
      [],
      ['shop/single'],
      [
        ['train-0', because],
        ['train-1', because],
      ],
    ]);
    world.see({ name: 'train-1', gates: [GATE], labels: LABELS('train', 2) });
    expect(starting(world.plan())).toEqual([['shop/train', 2]]);
  });

  test('stands where its highest priority and its oldest pod would', () => {
    const world = queueWorld([queueFor('shop')]);
    world.see({ name: 'first', gates: [GATE], cpu: 1, createdAt: 2 });
    seeGang(world, 'train', { size: 2, cpu: 4, createdAt: 3 });
    expect(starting(world.plan())).toEqual([]);
    world.see({ name: 'train-1', gates: [GATE], labels: LABELS('train', 2), cpu: 4, createdAt: 1 });
    expect(starting(world.plan())).toEqual([['shop/train', 2]]);
    world.see({ name: 'a', gates: [GATE], cpu: 1, createdAt: 1 });
    expect(starting(world.plan())).toEqual([['shop/train', 2]]);
    world.see({ name: 'high', gates: [GATE], cpu: 1, priority: 5, createdAt: 9 });
    expect([starting(world.plan()), letIn(world.plan())]).toEqual([[], ['shop/high', 'shop/a', 'shop/first']]);
    world.see({ name: 'train-1', gates: [GATE], labels: LABELS('train', 2), cpu: 4, priority: 7, createdAt: 1 });
    expect(starting(world.plan())).toEqual([['shop/train', 2]]);
  });

  test('waits for pods without holding anything, also in a strict queue', () => {
    const world = queueWorld([queueFor('shop', { ordering: 'Strict' }), queueFor('bank')]);
    world.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
    seeGang(world, 'train', { size: 8, there: 7 });
    for (let index = 0; index < 8; index += 1)
      world.see({ name: `b-${index}`, namespace: 'bank', gates: [GATE], createdAt: 5 });
    world.see({ name: 'single', gates: [GATE], createdAt: 9 });
    const plan = world.plan();
    expect([starting(plan), letIn(plan).length]).toEqual([[], 8]);
    expect(aside(plan)[0]).toEqual(['train-0', 'waits for 1 of 8 pods of gang shop/train']);
  });

  test.each([
    ['BestEffort', ['shop/single'], []],
    ['Strict', [], ['train-0', 'train-1', 'single']],
  ])('without a plan for its pods it lets others pass in a queue that is %s: %j', (ordering, passing, held) => {
    const world = queueWorld([queueFor('shop', { ordering })]);
    seeGang(world, 'train', { size: 2 });
    world.see({ name: 'single', gates: [GATE], createdAt: 9 });
    const because = reason<object>('GangNoPlan', () => 'no plan')({});
    const plan = world.plan(false, 'Guarantees', {
      whyGangWaits: (gang) => (gang === 'shop/train' ? because : undefined),
    });
    expect([letIn(plan), plan.held.map(({ name }) => name.replace('shop/', ''))]).toEqual([passing, held]);
    expect([...aside(plan), ...whyHeld(plan)][0]?.[1]).toBe('no plan');
  });

  test('goes in with its minimum; what comes later goes in alone, and what is lost comes back first', () => {
    const world = queueWorld([queueFor('shop')]);
    seeGang(world, 'train', { size: 4, min: 2, there: 3 });
    expect(starting(world.plan())).toEqual([['shop/train', 3]]);
    const IN = { gates: [], admittedTo: 'of-shop', node: 'node-0', phase: 'Running' };
    seeGang(world, 'train', { size: 4, min: 2, there: 2, ...IN });
    expect([starting(world.plan()), letIn(world.plan())]).toEqual([[], ['shop/train-2']]);
    world.gone('train-1');
    world.see({ name: 'older', gates: [GATE], cpu: 7, createdAt: -5 });
    expect([starting(world.plan()), letIn(world.plan())]).toEqual([[['shop/train', 1]], []]);
  });

  test('is let into no queue by a rollout or in the place of a deleted pod, pod by pod', () => {
    const world = queueWorld([queueFor('shop')]);
    const owners = [{ apiVersion: 'apps/v1', kind: 'StatefulSet', name: 's', uid: 's', controller: true }];
    const IN = { gates: [], admittedTo: 'of-shop', node: 'node-0', phase: 'Running', owners, cpu: 4 };
    seeGang(world, 'train', { size: 2, ...IN });
    seeGang(world, 'train', { size: 2, ...IN, deletionAt: 200 });
    world.gone('train-0');
    world.see({ name: 'again', gates: [GATE], labels: LABELS('train', 2), owners, cpu: 4 });
    const plan = world.plan(false, 'Guarantees', { now: 100_000 });
    expect([starting(plan), letIn(plan)]).toEqual([[], []]);
  });
});

test('in random trees a gang goes in whole or not at all, and no queue gets more than its maximum and the whole', () => {
  const random = randomSource(4_800);
  let [whole, none] = [0, 0];
  for (let round = 0; round < 300; round += 1) {
    const max = (): object => (random.chance(0.5) ? { max: { cpu: 2 + random.below(10) } } : {});
    const queues = [
      { metadata: { name: 'above' }, spec: max() },
      queueFor('shop', { parent: 'above', weight: 1 + random.below(3), ...max() }, 'left'),
      queueFor(
        'shop',
        { parent: 'above', weight: 1 + random.below(3), ...(random.chance(0.3) && { ordering: 'Strict' }), ...max() },
        'right',
      ),
    ];
    const world = queueWorld(queues, { 'node-0': 4 + random.below(20) });
    const sizes = new Map<string, number>();
    for (let index = 0; index < 6; index += 1) {
      const queue = random.pick(['left', 'right']);
      const more = { cpu: 1 + random.below(3), priority: random.below(3), createdAt: random.below(50) };
      if (random.chance(0.5)) world.see({ name: `single-${index}`, gates: [GATE], ...more, labels: { [GATE]: queue } });
      else {
        const size = 1 + random.below(5);
        sizes.set(`gang-${index}`, size);
        seeGang(world, `gang-${index}`, { size, ...more, labels: { ...LABELS(`gang-${index}`, size), [GATE]: queue } });
      }
    }
    const plan = world.plan();
    for (const [gang, size] of sizes) {
      const entering = plan.decision.letIn.filter(({ pod }) => pod.name.startsWith(`shop/${gang}-`)).length;
      expect([0, size]).toContain(entering);
      if (entering > 0) whole += 1;
      else none += 1;
    }
    expect(plan.letIn.some(({ name }) => name.includes('gang-'))).toBe(false);
    for (const { name, max: limits } of plan.directory.tree.queues) {
      const used = usedBy(plan.decision.usage, plan.directory.tree.indexes.get(name) ?? -1, 'cpu');
      expect(used).toBeLessThanOrEqual(Number(limits.get('cpu') ?? Infinity));
    }
    expect(usedBy(plan.decision.usage, 0, 'cpu')).toBeLessThanOrEqual(Number(plan.total.get('cpu')));
  }
  expect(Math.min(whole, none)).toBeGreaterThan(150);
});

import { expect, test } from 'vitest';
import { decodeQueue } from '#shared/api/queue.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { statusesOf } from '#scheduler/queues/queue-status.ts';
import { valueOf } from '#test/build/value-of.ts';
import { GATE, queueFor, queueWorld } from '#test/shared/decide/queues/queue-world.ts';

test('what waits in a queue waits in all queues above it; of types of which nothing waits, nothing is said', () => {
  const queues = [
    { metadata: { name: 'teams' }, spec: {} },
    queueFor('shop', { parent: 'teams', max: { cpu: 2 } }),
    queueFor('bank', { parent: 'teams' }),
  ];
  const world = queueWorld(queues);
  for (const createdAt of [7, 3, 5]) world.see({ name: `pod-${createdAt}`, gates: [GATE], cpu: 2, createdAt });
  const stored = queues.map((raw) => ({ object: valueOf(decodeQueue(raw)), isMade: false }));
  const nothing = { evictedFor: () => [], blockedFor: () => undefined };
  const statuses = finish(statusesOf(world.plan(), stored, nothing));
  const facts = ['teams', 'of-shop', 'of-bank'].map((name) => {
    const { pending, waitingPods, oldestWaiting } = statuses.get(name) ?? {};
    return [name, pending, waitingPods, oldestWaiting];
  });
  expect(facts).toEqual([
    ['teams', { cpu: '4' }, 2, 5_000],
    ['of-shop', { cpu: '4' }, 2, 5_000],
    ['of-bank', {}, 0, undefined],
  ]);
});

test('a queue that a resized pod takes above its maximum says so until it is below (S2-37)', () => {
  const queues = [{ metadata: { name: 'teams' }, spec: { max: { cpu: 3 } } }, queueFor('shop', { parent: 'teams' })];
  const world = queueWorld(queues);
  const stored = queues.map((raw) => ({ object: valueOf(decodeQueue(raw)), isMade: false }));
  const conditions = (cpu: number) => {
    world.see({ name: 'grown', node: 'node-0', phase: 'Running', admittedTo: 'of-shop', cpu });
    world.see({ name: 'waits', gates: [GATE], cpu: 1 });
    const plan = world.plan();
    const statuses = finish(statusesOf(plan, stored, { evictedFor: () => [], blockedFor: () => undefined }));
    const above = ['teams', 'of-shop'].map((name) =>
      statuses.get(name)?.conditions.filter(({ type }) => type === 'AboveMaximum'),
    );
    return [above, plan.letIn.length];
  };
  expect(conditions(2)).toEqual([[[], []], 1]);
  const message = expect.stringMatching(
    /^queue teams uses 2 cpu more than its maximum: running pods were resized/,
  ) as string;
  expect(conditions(5)).toEqual([[[{ type: 'AboveMaximum', status: 'True', reason: 'Overuse', message }], []], 0]);
});

test('a queue names the pods that were let in and gave their share back', () => {
  const queues = [queueFor('shop')];
  const world = queueWorld(queues);
  for (const index of [1, 2, 3, 4, 5, 6]) world.see({ name: `big-${index}`, admittedTo: 'of-shop', cpu: 9 });
  const stored = queues.map((raw) => ({ object: valueOf(decodeQueue(raw)), isMade: false }));
  const conditions = (now: number) => {
    const plan = world.plan(false, 'Guarantees', { now });
    const statuses = finish(statusesOf(plan, stored, { evictedFor: () => [], blockedFor: () => undefined }));
    return statuses.get('of-shop')?.conditions.filter(({ type }) => type === 'SharesReturned');
  };
  expect(conditions(0)).toEqual([]);
  expect(conditions(300_000)).toMatchObject([
    {
      status: 'True',
      reason: 'NoNodeFound',
      message: expect.stringMatching(/shop\/big-1 \(NoNodeFound\).* and 1 more$/) as string,
    },
  ]);
});

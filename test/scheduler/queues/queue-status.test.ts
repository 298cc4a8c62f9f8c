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

test('a queue says which gangs wait in it and why, the first five of them', () => {
  const queues = [queueFor('shop', { max: { cpu: 4 } }), queueFor('bank')];
  const world = queueWorld(queues, { 'node-0': 8 });
  world.manage('bank', { team: 'bank', 'plimsoll.dev/queues': 'managed' });
  const member = (gang: string, size: number, index: number, namespace = 'shop') => ({
    name: `${namespace}-${gang}-${index}`,
    namespace,
    gates: [GATE],
    labels: { 'plimsoll.dev/gang': gang, 'plimsoll.dev/gang-size': String(size) },
  });
  const conditions = (more = {}) => {
    const stored = queues.map((raw) => ({ object: valueOf(decodeQueue(raw)), isMade: false }));
    const plan = world.plan(false, 'Guarantees', more);
    const statuses = finish(statusesOf(plan, stored, { evictedFor: () => [], blockedFor: () => undefined }));
    const said = ['of-shop', 'of-bank'].map((name) =>
      statuses.get(name)?.conditions.filter(({ type }) => type === 'GangsWait'),
    );
    return said.map((each) => each?.map(({ reason, message }) => [reason, message]));
  };
  expect(conditions()).toEqual([[], []]);
  world.see(member('train', 3, 0, 'bank'));
  for (const index of [0, 1, 2]) world.see(member('first', 3, index));
  for (const index of [0, 1]) world.see(member('second', 2, index));
  expect(conditions()).toEqual([
    [['AtMaximum', 'shop/second (2 pods): waits for 1 cpu: queue of-shop is at its maximum 4']],
    [['GangIncomplete', 'bank/train (1 pod): waits for 2 of 3 pods of gang bank/train']],
  ]);
  const noPlan = { code: 'GangNoPlan', text: 'no plan', facts: {} };
  for (const gang of ['c', 'd', 'e', 'f']) world.see(member(gang, 2, 0));
  expect(conditions({ whyGangWaits: () => noPlan })[0]?.[0]?.[1]).toBe(
    [
      ...['c', 'd', 'e', 'f'].map((gang) => `shop/${gang} (1 pod): waits for 1 of 2 pods of gang shop/${gang}`),
      'shop/first (3 pods): no plan',
      'and 1 more',
    ].join('; '),
  );
});

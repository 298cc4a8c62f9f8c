import { expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { readRoomState } from '#shared/decide/queues/room-state.ts';
import { seekersOf } from '#shared/decide/queues/seekers.ts';
import { makeRoomInSteps } from '#shared/domain/queue/make-room.ts';
import { putBudget } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildBudget } from '#test/build/cluster.ts';
import { fill, HOUR, twoQueues, UNGATED } from '#test/scheduler/queues/reclaim-stage.ts';
import { queueWorld } from './queue-world.ts';

const no = (): boolean => false;

test.each([
  ['by name', { 'node-0': 8, 'node-1': 8 }],
  ['from the last', { 'node-1': 8, 'node-0': 8 }],
])('nodes are looked at by name where the watch shows them %s, so that of equal ones the same gives', (_, nodes) => {
  const { pods, snapshot, plan } = queueWorld(twoQueues(), nodes);
  const state = readRoomState({ plan: plan(true), pods, snapshot, now: 0, isLeaving: no, isRefused: no, promises: [] });
  expect(finish(state).nodes.map(({ name }) => name)).toEqual(['node-0', 'node-1']);
});

test('no pod goes that stands under two budgets, since the API server refuses to evict it, and both are named', () => {
  const world = queueWorld(twoQueues(), undefined, { now: () => HOUR * 1_000 });
  const steps = () => {
    const asked = { now: HOUR * 1_000, isLeaving: no, isRefused: no, promises: [] };
    const input = { plan: world.plan(true), pods: world.pods, snapshot: world.snapshot, ...asked };
    return finish(makeRoomInSteps(finish(readRoomState(input)), finish(seekersOf(input)), input.now));
  };
  const cover = (app: string): void => {
    for (const name of ['one', 'two'])
      putBudget(world.snapshot, { ...buildBudget(name, { app }, 5), namespace: 'shop' });
  };
  fill(world, 8, { labels: { app: 'rest' } });
  fill(world, 2, { labels: { app: 'first' } });
  world.see(UNGATED);
  cover('first');
  expect(steps()[0]?.step).toMatchObject({ kind: 'Evict', victims: [{ name: 'shop/pod-2' }, { name: 'shop/pod-3' }] });
  putBudget(world.snapshot, { ...buildBudget('three', { app: 'rest' }, 5), namespace: 'shop' });
  putBudget(world.snapshot, { ...buildBudget('all', {}, 5), namespace: 'shop' });
  expect(steps()[0]?.step.because).toMatchObject({
    code: 'ReclaimBlocked',
    text: 'budgets shop/all and shop/one and shop/two select the same pods, so that the API server refuses to evict them',
  });
});

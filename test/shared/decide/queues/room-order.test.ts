import { expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { readRoomState } from '#shared/decide/queues/room-state.ts';
import { twoQueues } from '#test/scheduler/queues/reclaim-stage.ts';
import { queueWorld } from './queue-world.ts';

test.each([
  ['by name', { 'node-0': 8, 'node-1': 8 }],
  ['from the last', { 'node-1': 8, 'node-0': 8 }],
])('nodes are looked at by name where the watch shows them %s, so that of equal ones the same gives', (_, nodes) => {
  const { pods, snapshot, plan } = queueWorld(twoQueues(), nodes);
  const no = (): boolean => false;
  const state = readRoomState({ plan: plan(true), pods, snapshot, now: 0, isLeaving: no, isRefused: no, promises: [] });
  expect(finish(state).nodes.map(({ name }) => name)).toEqual(['node-0', 'node-1']);
});

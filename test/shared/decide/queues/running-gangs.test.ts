import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import { makeRoomInSteps } from '#shared/domain/queue/make-room.ts';
import { putBudget } from '#shared/domain/snapshot/create-snapshot.ts';
import { readRoomState } from '#shared/decide/queues/room-state.ts';
import { seekersOf } from '#shared/decide/queues/seekers.ts';
import { buildBudget } from '#test/build/cluster.ts';
import { fill, HOUR, RUNNING, twoQueues, UNGATED } from '#test/scheduler/queues/reclaim-stage.ts';
import { queueFor, queueWorld, type WatchedPod } from './queue-world.ts';

type World = ReturnType<typeof queueWorld>;

const gang = (name: string, size: number, min = size) => ({
  labels: {
    'plimsoll.dev/gang': name,
    'plimsoll.dev/gang-size': `${size}`,
    'plimsoll.dev/gang-min': `${min}`,
    app: name,
  },
});

/** Eight pods of the queue `other` fill the node. */
function world(pods: readonly Partial<WatchedPod>[], queues = twoQueues()): World {
  const of = queueWorld(queues, { 'node-0': 8 }, { now: () => HOUR * 1_000 });
  fill(of, 8);
  pods.forEach((change, index) => of.see({ ...RUNNING, name: `pod-${index}`, ...change }));
  of.see(UNGATED);
  return of;
}

function found({ pods, snapshot, plan }: World) {
  const nobody = (): boolean => false;
  const input = {
    plan: plan(true),
    pods,
    snapshot,
    now: HOUR * 1_000,
    isLeaving: nobody,
    isRefused: nobody,
    promises: [],
  };
  const [first] = finish(makeRoomInSteps(finish(readRoomState(input)), finish(seekersOf(input)), input.now));
  if (first?.step.kind !== 'Evict') return first?.step.because.text;
  return first.step.victims.map(({ name }) => name.replace('shop/pod-', '')).join(' ');
}

const [four, pair] = [gang('four', 4), gang('pair', 2)];

describe('reclaim counts a gang as one victim', () => {
  test('pods that cost no gang go first, whatever the order', () => {
    expect(found(world([]))).toBe('0 1');
    expect(found(world([four, four, four, four]))).toBe('4 5');
  });

  test('a gang may lose the pods that it can spare, and no more', () => {
    const spare = gang('six', 6, 5);
    expect(found(world([spare, spare, spare, spare, spare, spare]))).toBe('0 6');
  });

  test('where nothing else makes room, the smallest gang goes whole', () => {
    expect(found(world([four, four, four, four, pair, pair, gang('more', 2), gang('more', 2)]))).toBe('4 5');
  });

  test('no gang holds what was promised to another queue: its pods go as others where it may not go whole', () => {
    const all = gang('all', 8);
    const whole = Array.from({ length: 8 }, () => all);
    const guaranteed = [...twoQueues().slice(0, 1), queueFor('x', { guaranteed: { cpu: 1 } }, 'other')];
    expect(found(world(whole))).toBe('0 1 2 3 4 5 6 7');
    expect(found(world(whole, guaranteed))).toBe('0 1');
    expect(
      found(world(whole.map((each, index) => ({ ...each, ...(index === 0 && { priority: 2_000_001_000 }) })))),
    ).toBe('1 2');
  });

  test('a gang that a budget keeps stays, and the next one goes', () => {
    const kept = world([pair, pair, ...Array.from({ length: 6 }, () => gang('six', 6))]);
    expect(found(kept)).toBe('0 1');
    putBudget(kept.snapshot, { ...buildBudget('pdb', { app: 'pair' }, 1), namespace: 'shop' });
    expect(found(kept)).toBe('2 3 4 5 6 7');
  });
});

import { describe, expect, test } from 'vitest';
import { GATE, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';
import { reclaimStage, RUNNING, type StageSettings, twoQueues } from './reclaim-stage.ts';

const gangPod = (index: number, fields: Partial<WatchedPod> = {}): WatchedPod => ({
  name: `train-${index}`,
  cpu: 2,
  gates: [GATE],
  labels: { 'plimsoll.dev/gang': 'train', 'plimsoll.dev/gang-size': '3' },
  ...fields,
});

/** Two nodes of 4 CPUs full of pods of `other`, and a gang of three pods of 2 CPUs. */
function stageOf(settings: StageSettings = {}) {
  const stage = reclaimStage({ queues: twoQueues(6), nodes: { 'node-0': 4, 'node-1': 4 }, ...settings });
  for (let index = 0; index < 8; index += 1)
    stage.see({ name: `pod-${index}`, ...RUNNING, node: index < 4 ? 'node-0' : 'node-1' });
  for (const index of [0, 1, 2]) stage.see(gangPod(index));
  return stage;
}

describe('room for a gang', () => {
  test('is made for all of its pods at once, and they wait behind their gates until all of it is there', async () => {
    const stage = stageOf();
    const sent = await stage.round();
    expect(sent.filter((each) => each.startsWith('set')).sort()).toEqual([
      'set train-0 node-0',
      'set train-1 node-0',
      'set train-2 node-1',
    ]);
    expect(sent.filter((each) => each.startsWith('evict'))).toHaveLength(6);
    expect(stage.told('letIn')).toEqual([]);
    for (const index of [0, 1, 2]) stage.see(gangPod(index, { nominatedTo: index < 2 ? 'node-0' : 'node-1' }));
    for (const index of [0, 1, 2, 3]) stage.gone(`pod-${index}`);
    expect(await stage.round(500)).toEqual([]);
    expect([stage.told('letIn'), stage.plan(true).starting]).toEqual([[], []]);
    for (const index of [4, 5]) stage.gone(`pod-${index}`);
    expect(stage.plan(true).starting.map(({ name }) => name)).toEqual(['shop/train']);
  });

  test.each<[string, (stage: ReturnType<typeof stageOf>) => void]>([
    ['a third pod of it finds none', (stage) => stage.see({ name: 'old', node: 'node-1', cpu: 3, phase: 'Running' })],
    [
      'one of its nodes is full of protected pods',
      (stage) => {
        for (let index = 4; index < 8; index += 1)
          stage.see({ name: `pod-${index}`, ...RUNNING, node: 'node-1', priority: 2_000_000_000 });
      },
    ],
  ])('is not made for a part of it: %s', async (_, change) => {
    const stage = stageOf();
    change(stage);
    expect(await stage.round()).toEqual([]);
    expect(stage.told('letIn')).toEqual([]);
    const reasons = [0, 1, 2].map((index) => stage.reclaim.whyWaiting(`uid-train-${index}`)?.code);
    expect(new Set(reasons)).toEqual(new Set(['NoRoomForGang']));
    expect(stage.told('gangs')).toEqual(['shop/train stands aside: NoRoomForGang']);
  });

  test('is there already, beside pods of others that count and have no node: the gang starts', async () => {
    const stage = reclaimStage({ queues: twoQueues(6), nodes: { 'node-0': 4, 'node-1': 4 } });
    for (let index = 0; index < 8; index += 1)
      stage.see({ name: `pod-${index}`, admittedTo: 'other', mayPreempt: true });
    for (const index of [0, 1, 2]) stage.see(gangPod(index, { priority: 1 }));
    await stage.round();
    expect([stage.told('gangs'), stage.told('letIn')]).toEqual([['shop/train starts'], []]);
  });

  test('is not made for a gang that is larger than what its queue is guaranteed', async () => {
    const stage = stageOf({ queues: twoQueues(4) });
    expect(await stage.round()).toEqual([]);
    expect(stage.plan(true).held.map(({ name }) => name)).toEqual(['shop/train-0', 'shop/train-1', 'shop/train-2']);
  });

  test('is not looked for where more than a hundred of its pods wait, and single pods behind it get theirs', async () => {
    const stage = stageOf({ queues: twoQueues(8) });
    for (const index of [0, 1, 2]) stage.gone(`train-${index}`);
    const labels = { 'plimsoll.dev/gang': 'many', 'plimsoll.dev/gang-size': '101' };
    for (let index = 0; index < 101; index += 1) stage.see({ name: `many-${index}`, cpu: 0.01, gates: [GATE], labels });
    stage.see({ name: 'single', cpu: 1, gates: [GATE], createdAt: 5 });
    expect(await stage.round()).toEqual(['set single node-0', 'evict pod-0']);
    expect(stage.reclaim.whyWaiting('uid-many-0')?.code).toBe('GangTooLargeForReclaim');
  });
});

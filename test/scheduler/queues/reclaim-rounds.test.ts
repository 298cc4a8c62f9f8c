import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { GATE } from '#test/shared/decide/queues/queue-world.ts';
import { fill, fullStage, GATED, HOUR, OK, reclaimStage, RUNNING, twoQueues, UNGATED } from './reclaim-stage.ts';

const REFUSED: Outcome<unknown> = { kind: 'tooManyRequests', message: 'the budget needs all pods', status: 429 };
const NOMINATED = { ...GATED, nominatedTo: 'node-0' };

describe('victims', () => {
  test('count as leaving while the watch does not show it, for half a minute', async () => {
    const stage = fullStage();
    await stage.round();
    stage.see(NOMINATED);
    expect(await stage.round(500)).toEqual([]);
    expect(await stage.round(9_400)).toEqual([]);
    expect(await stage.round(20_099)).toEqual(['clear taker', 'set taker node-0']);
    expect(await stage.round(1)).toEqual(['clear taker', 'set taker node-0', 'evict pod-0', 'evict pod-1']);
  });

  test('count as leaving when the watch shows it, and when they are gone the pod goes in', async () => {
    const stage = fullStage();
    await stage.round();
    stage.see(NOMINATED);
    for (const name of ['pod-0', 'pod-1']) stage.see({ name, ...RUNNING, deletionAt: HOUR + 120 });
    expect(await stage.round(60_000)).toEqual(['clear taker', 'set taker node-0']);
    const letIn = () => stage.plan(true).letIn.map(({ name }) => name);
    expect([letIn(), stage.told('letIn')]).toEqual([[], []]);
    for (const name of ['pod-0', 'pod-1']) stage.gone(name);
    expect([letIn(), await stage.round(500)]).toEqual([['shop/taker'], []]);
  });

  test('are those whose owners were disrupted longest ago, of pods that started at once (S3-8)', async () => {
    const ownedBy = (uid: string) => ({ owners: [{ kind: 'ReplicaSet', name: uid, uid, controller: true }] });
    const at: Readonly<Record<string, number>> = { left: 2_000, right: 1_000 };
    const stage = fullStage(
      UNGATED,
      { startedAt: 1, ...ownedBy('left') },
      { ownerDisruptedAt: (owner = '') => at[owner] },
    );
    for (const name of ['pod-1', 'pod-3']) stage.see({ name, ...RUNNING, startedAt: 1, ...ownedBy('right') });
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-1', 'evict pod-3']);
  });

  test('are others, where one was refused, until a minute is over', async () => {
    const stage = fullStage(UNGATED, { priority: 1 });
    for (const name of ['pod-0', 'pod-1', 'pod-2']) stage.see({ name, ...RUNNING });
    stage.state.answer = (what) => (what === 'evict pod-0' ? REFUSED : OK);
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0']);
    expect(await stage.round(500)).toEqual(['set taker node-0', 'evict pod-1', 'evict pod-2']);
    stage.see({ name: 'pod-2', ...RUNNING, priority: 1 });
    expect(await stage.round(59_499)).toEqual([]);
    expect(await stage.round(10_000)).toEqual(['set taker node-0', 'evict pod-0']);
  });

  test('that were not asked for may go for another pod', async () => {
    const stage = fullStage();
    stage.state.answer = (what) => (what === 'set taker node-0' ? { kind: 'forbidden', message: 'no' } : OK);
    await stage.round();
    stage.see({ name: 'taker', cpu: 2, admittedTo: 'other', node: 'node-1', phase: 'Running' });
    stage.see({ name: 'next', cpu: 2, gates: [GATE] });
    expect(await stage.round(500)).toEqual(['set next node-0', 'evict pod-0', 'evict pod-1']);
  });
});

describe('who was evicted for pods of a queue', () => {
  test('is remembered, with the reason', async () => {
    const stage = fullStage();
    stage.state.answer = (what) => (what === 'evict pod-1' ? REFUSED : OK);
    await stage.round();
    const text = 'queue of-shop is under its guarantee, and queue other over its own';
    const because = { code: 'Reclaim', text };
    const evicted = { pod: 'shop/pod-0', uid: 'uid-pod-0', node: 'node-0', at: HOUR * 1_000, because };
    expect(stage.reclaim.evictedFor('of-shop')).toMatchObject([evicted]);
    expect(stage.reclaim.evictedFor('other')).toEqual([]);
  });

  test('is forgotten with time', async () => {
    const stage = reclaimStage({ queues: twoQueues(60), nodes: { 'node-0': 60 } });
    fill(stage, 60);
    stage.see({ ...GATED, cpu: 60 });
    await stage.round();
    const names = stage.reclaim.evictedFor('of-shop').map(({ pod }) => pod);
    expect([names.length, names.at(-1)]).toEqual([50, 'shop/pod-9']);
  });
});

describe('a node is set aside again', () => {
  const leaving = { deletionAt: HOUR + 300 };

  test('for a pod behind its gate after ten seconds: the nomination is taken off and written anew', async () => {
    const stage = fullStage(NOMINATED, leaving);
    const again = ['clear taker', 'set taker node-0'];
    expect(await stage.round()).toEqual(again);
    expect(await stage.round(9_999)).toEqual([]);
    expect(await stage.round(1)).toEqual(again);
    expect(await stage.round(500)).toEqual([]);
  });

  test('for a pod behind its gate at once, where its nomination is gone', async () => {
    const stage = fullStage(NOMINATED, leaving);
    await stage.round();
    stage.see(GATED);
    expect(await stage.round(500)).toEqual(['set taker node-0']);
  });

  test('for a pod that was let in not sooner: kube-scheduler takes the nomination off at each attempt', async () => {
    const stage = fullStage(UNGATED, leaving);
    expect(await stage.round()).toEqual(['set taker node-0']);
    expect(await stage.round(9_999)).toEqual([]);
    expect(await stage.round(1)).toEqual(['set taker node-0']);
  });
});

describe('a pod is given up', () => {
  const halfAMinute = 30_000;

  test('after three decisions within ten minutes: it is let in, and told why', async () => {
    const stage = fullStage();
    for (const afterMs of [0, halfAMinute, halfAMinute]) expect(await stage.round(afterMs)).toContain('evict pod-0');
    stage.told('events');
    expect(await stage.round(halfAMinute)).toEqual([]);
    expect(stage.told('letIn')).toEqual(['shop/taker']);
    const note = 'the leader tried 3 times within ten minutes to make room for this pod, without success';
    expect(stage.told('events')).toMatchObject([{ reason: 'NoRoomReclaimed', note }]);
    expect(stage.reclaim.whyWaiting('uid-taker')?.code).toBe('GivenUp');
  });

  test('until the first of them is ten minutes past', async () => {
    const stage = fullStage(UNGATED);
    for (const afterMs of [0, halfAMinute, halfAMinute]) await stage.round(afterMs);
    expect(await stage.round(600_000 - 2 * halfAMinute - 1)).toEqual([]);
    expect(await stage.round(10_000)).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
  });
});

describe('the queue root says', () => {
  test('Enforce: the next round evicts', async () => {
    const stage = fullStage(GATED, {}, { mode: 'DryRun' });
    expect(await stage.round()).toEqual([]);
    stage.state.reclaim = { mode: 'Enforce', overuse: 'Keep' };
    expect(await stage.round(10_000)).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
  });

  test.each(['DryRun', 'Disabled'] as const)('%s: no further pod is evicted, and the pod goes in', async (mode) => {
    const stage = fullStage();
    stage.state.answer = (what) => {
      if (what === 'evict pod-0') stage.state.reclaim = { mode, overuse: 'Evict' };
      return OK;
    };
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0']);
    stage.see(NOMINATED);
    expect(await stage.round(60_000)).toEqual([]);
    expect(stage.plan(false).letIn.map(({ name }) => name)).toEqual(['shop/taker']);
  });

  test('DryRun, where a former leader has set a node aside: it does not stay so', async () => {
    const stage = fullStage(NOMINATED, {}, { mode: 'DryRun', queues: twoQueues(0) });
    fill(stage, 8);
    stage.see({ ...NOMINATED, cpu: 9 });
    expect(await stage.round()).toEqual(['clear taker']);
  });

  test('Disabled: nothing is looked for, and no reason of before is left', async () => {
    const stage = fullStage(UNGATED, { priority: 1 });
    await stage.round();
    expect(stage.reclaim.whyWaiting('uid-taker')).toBeDefined();
    stage.state.reclaim = { mode: 'Disabled', overuse: 'Keep' };
    expect([await stage.round(10_000), stage.reclaim.whyWaiting('uid-taker')]).toEqual([[], undefined]);
  });
});

describe('who is looked at', () => {
  test('a pod for which nobody goes is looked at again after ten seconds', async () => {
    const stage = fullStage(UNGATED, { priority: 1 });
    await stage.round();
    fill(stage, 8);
    expect(await stage.round(9_999)).toEqual([]);
    expect(await stage.round(1)).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
  });

  test('a pod for which nobody goes is told once', async () => {
    const stage = fullStage(UNGATED, { priority: 1 });
    for (const afterMs of [0, 500, 9_500, 500, 9_500]) await stage.round(afterMs);
    expect(stage.told('events')).toHaveLength(1);
  });

  test('of many pods the twenty most important, the others when these have room', async () => {
    const stage = reclaimStage({ queues: twoQueues(22), nodes: { 'node-0': 22 } });
    fill(stage, 22);
    const name = (index: number) => `taker-${String(index).padStart(2, '0')}`;
    const see = (index: number, more = {}) =>
      stage.see({ name: name(index), gates: [GATE], priority: 30 - index, createdAt: index, ...more });
    for (let index = 21; index >= 0; index -= 1) see(index);
    const first = await stage.round();
    const expected = Array.from({ length: 20 }, (_, index) => `set ${name(index)} node-0`);
    expect(first.filter((what) => what.startsWith('set'))).toEqual(expected);
    for (let index = 0; index < 20; index += 1) see(index, { nominatedTo: 'node-0' });
    expect(await stage.round(500)).toEqual([]);
    stage.gone(name(0));
    stage.gone(name(1));
    expect(await stage.round(500)).toEqual(['set taker-20 node-0', 'set taker-21 node-0']);
  });

  test('a pod whose room is being made is left alone, and others get theirs', async () => {
    const stage = fullStage();
    const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
    stage.state.answer = (what) => (what === 'evict pod-0' ? promise : OK);
    await stage.begin();
    stage.see(NOMINATED);
    stage.see({ name: 'next', gates: [GATE] });
    await stage.begin();
    await stage.manual.advance(0);
    expect(stage.told('sent')).toEqual(['set taker node-0', 'evict pod-0', 'set next node-0', 'evict pod-2']);
    resolve(OK);
    await stage.reclaim.settled();
    expect(stage.told('sent')).toEqual(['evict pod-1']);
  });

  test('a pod whose node is being set aside is left alone', async () => {
    const stage = fullStage();
    const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
    stage.state.answer = (what) => (what === 'set taker node-0' ? promise : OK);
    for (let round = 0; round < 2; round += 1) await stage.begin();
    resolve(OK);
    await stage.reclaim.settled();
    expect(stage.told('sent')).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
  });

  test('nothing is sent where no pod seeks room', async () => {
    const stage = reclaimStage();
    fill(stage, 8);
    expect(await stage.round()).toEqual([]);
  });
});

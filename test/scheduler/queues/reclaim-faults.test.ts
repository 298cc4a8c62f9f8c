import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { textAt } from '#test/contract/harness.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode } from '#test/build/cluster.ts';
import { GATE, queueFor } from '#test/shared/decide/queues/queue-world.ts';
import {
  fill,
  fullStage,
  GATED,
  HOUR,
  OK,
  reclaimStage,
  RUNNING,
  type StageSettings,
  twoQueues,
  UNGATED,
} from './reclaim-stage.ts';

const NOMINATED = { ...GATED, nominatedTo: 'node-0' };
const REFUSED: Outcome<unknown> = { kind: 'tooManyRequests', message: 'no', status: 429 };
const MANAGED = { team: 'late', 'plimsoll.dev/queues': 'managed' };

describe('what counts for a queue where room is made', () => {
  test('a pod that never had the gate', async () => {
    const stage = reclaimStage();
    fill(stage, 4);
    stage.see({ name: 'daemon', node: 'node-0', phase: 'Running', cpu: 4 });
    stage.see(UNGATED);
    expect(await stage.round()).toEqual([]);
  });

  test('a pod that ran before its namespace was managed', async () => {
    const queues = [queueFor('shop'), queueFor('late', { guaranteed: { cpu: 4 } }), queueFor('x', {}, 'other')];
    const stage = reclaimStage({ queues });
    fill(stage, 4);
    stage.see({ name: 'early', namespace: 'late', node: 'node-0', phase: 'Running', cpu: 4 });
    stage.manage('late', MANAGED);
    stage.see({ ...UNGATED, namespace: 'late', admittedTo: 'of-late' });
    expect(await stage.round()).toEqual([]);
  });

  test('not what a pod behind its gate says in its annotation', async () => {
    const queues = [...twoQueues().slice(0, 1), queueFor('x', { guaranteed: { cpu: 8 } }, 'other')];
    const stage = reclaimStage({ queues });
    fill(stage, 8);
    stage.see(UNGATED);
    stage.see({ name: 'forged', namespace: 'elsewhere', gates: [GATE], admittedTo: 'other', cpu: 1_000 });
    expect(await stage.round()).toEqual([]);
  });
});

describe('an eviction', () => {
  test.each(['timeout', 'unreachable', 'serverError', 'notFound', 'conflict'] as const)(
    'that ends with %s: no other pod goes instead',
    async (kind) => {
      const stage = fullStage({ ...GATED, cpu: 1 });
      stage.state.answer = (what) => (what.startsWith('evict') ? { kind, message: '' } : OK);
      await stage.round();
      stage.see({ ...NOMINATED, cpu: 1 });
      expect(await stage.round(500)).toEqual([]);
    },
  );

  test('of which nothing was heard for half a minute has not happened', async () => {
    const stage = fullStage({ ...GATED, cpu: 1 });
    stage.state.answer = (what) => (what.startsWith('evict') ? { kind: 'timeout', message: '' } : OK);
    await stage.round();
    stage.see({ ...NOMINATED, cpu: 1 });
    expect(await stage.round(30_000)).toContain('evict pod-0');
  });

  test.each<[string, Outcome<unknown>]>([
    ['evict', REFUSED],
    ['set', { kind: 'unreachable', message: '' }],
  ])('%s that fails is no decision: the pod is not given up', async (what, answer) => {
    const stage = fullStage();
    stage.state.answer = (asked) => (asked.startsWith(what) ? answer : OK);
    for (const afterMs of [0, 500, 500, 500]) await stage.round(afterMs);
    expect(stage.told('letIn')).toEqual([]);
  });
});

test('where a node cannot be read, pods that seek room are let in', async () => {
  const stage = fullStage();
  const plan = stage.plan(true);
  stage.snapshot.nodes.set('broken', {} as never);
  await expect(stage.reclaim.round(plan, stage.leading.signal)).rejects.toThrow();
  expect([stage.told('sent'), stage.told('letIn')]).toEqual([[], ['shop/taker']]);
});

test('a pod that a scheduler placed meanwhile needs no room: no pod goes, and nothing is wrong', async () => {
  const message =
    'Pod "taker" is invalid: status.nominatedNodeName: Forbidden: may not be set on pods that are already bound to a node';
  const stage = fullStage();
  stage.state.answer = (what) => (what.startsWith('set') ? { kind: 'invalid', message } : OK);
  expect(await stage.round()).toEqual(['set taker node-0']);
  const faults = () => stage.told('lines').filter((line) => textAt(line, 'msg') === 'Node not set aside');
  expect(faults()).toEqual([]);
  stage.state.answer = () => ({ kind: 'invalid', message: 'no' });
  await stage.round(10_000);
  expect(faults()).toMatchObject([{ fault: 'invalid' }]);
});

test.each(['Evict', 'Await'])('a pod for which three times no node can be set aside is let in: %s', async (step) => {
  const stage = step === 'Evict' ? fullStage() : fullStage(GATED, { deletionAt: 3_610 });
  stage.state.answer = () => ({ kind: 'forbidden', message: '' });
  for (const afterMs of [0, 10_000, 10_000]) expect(await stage.round(afterMs)).toEqual(['set taker node-0']);
  expect(stage.told('letIn')).toEqual([]);
  expect([await stage.round(10_000), stage.told('letIn')]).toEqual([[], ['shop/taker']]);
});

test('a pod that did not ask to be spared goes in the last resort without the word', async () => {
  const stage = reclaimStage();
  fill(stage, 7, { mayBePreempted: false });
  stage.see({ name: 'plain', ...RUNNING });
  stage.see(GATED);
  await stage.round();
  const events = stage.told('events').map((each) => [textAt(each, 'regarding.name'), textAt(each, 'note')] as const);
  expect(events.map(([name, note]) => [name, note.includes('asked to be spared')]).sort()).toEqual([
    ['plain', false],
    ['pod-0', true],
  ]);
});

test('a dry run looks at each pod every ten seconds', async () => {
  const stage = fullStage(UNGATED, {}, { mode: 'DryRun' });
  await stage.round();
  stage.see({ name: 'pod-0', ...RUNNING, mayBePreempted: false });
  await stage.round(9_999);
  expect(stage.told('lines')).toHaveLength(1);
  await stage.round(1);
  expect(stage.told('lines')).toHaveLength(1);
});

describe('a node that is set aside', () => {
  test('is given up by a pod whose queue is gone', async () => {
    const stage = fullStage({ ...NOMINATED, labels: { [GATE]: 'deleted' } });
    expect(await stage.round()).toEqual(['clear taker']);
  });

  test('stays so for a pod that no round has looked at', async () => {
    const on = (node: string) => ({ spec: { nodeSelector: { 'kubernetes.io/hostname': node } } });
    const stage = reclaimStage({ queues: twoQueues(44), nodes: { 'node-0': 1, 'node-1': 40 } });
    fill(stage, 1);
    for (let index = 0; index < 40; index += 1) stage.see({ name: `x-${index}`, ...RUNNING, node: 'node-1' });
    stage.see({ name: 'first', gates: [GATE], ...on('node-0') });
    await stage.round();
    stage.see({ name: 'first', gates: [GATE], nominatedTo: 'node-0', ...on('node-0') });
    for (let index = 0; index < 20; index += 1)
      stage.see({ name: `t-${index}`, gates: [GATE], priority: 1, ...on('node-1') });
    expect(await stage.round(500)).not.toContain('clear first');
  });

  test('is promised to no other pod while it is being set aside', async () => {
    const stage = fullStage();
    const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
    stage.state.answer = (what) => (what === 'set taker node-0' ? promise : OK);
    await stage.begin();
    stage.see({ ...GATED, name: 'next', createdAt: 5 });
    await stage.begin();
    await stage.manual.advance(0);
    resolve(OK);
    await stage.reclaim.settled();
    expect(stage.told('sent')).toContain('evict pod-2');
  });
});

describe('a queue that uses more than its maximum', () => {
  const queues = [queueFor('shop'), queueFor('x', { max: { cpu: 6 } }, 'other')];
  const overused = (settings: object) => {
    const stage = reclaimStage({ queues, overuse: 'Evict', ...settings });
    fill(stage, 8);
    return stage;
  };

  test('gives up what is above it after its delay, and the record says why', async () => {
    const stage = overused({});
    expect(await stage.round()).toEqual([]);
    expect(await stage.round(29_999)).toEqual([]);
    expect(await stage.round(1)).toEqual(['evict pod-0', 'evict pod-1']);
    expect(stage.reclaim.evictedFor('other')).toMatchObject([
      { node: 'node-0', because: { code: 'Overuse', text: 'queue other uses 2 cpu more than its maximum' } },
      { pod: 'shop/pod-1' },
    ]);
    stage.see({ name: 'pod-0', ...RUNNING, deletionAt: 3_700 });
    stage.see({ name: 'pod-1', ...RUNNING, deletionAt: 3_700 });
    expect(await stage.round(30_000)).toEqual([]);
  });

  test('gives up first, so that no pod of another queue goes for one that can have that room', async () => {
    const guaranteed = queueFor('shop', { guaranteed: { cpu: 2 } });
    const stage = reclaimStage({
      queues: [guaranteed, ...queues.slice(1), queueFor('y', {}, 'third')],
      overuse: 'Evict',
    });
    fill(stage, 7);
    stage.see({ ...RUNNING, name: 'bystander', admittedTo: 'third', priority: -1 });
    expect(await stage.round()).toEqual([]);
    stage.see({ ...GATED, cpu: 1 });
    expect((await stage.round(30_000)).toSorted()).toEqual(['evict pod-0', 'set taker node-0']);
  });

  test('begins its delay anew where it was within it meanwhile', async () => {
    const stage = overused({});
    await stage.round();
    stage.see({ name: 'pod-0', phase: 'Succeeded' });
    stage.see({ name: 'pod-1', phase: 'Succeeded' });
    await stage.round(20_000);
    fill(stage, 8);
    expect(await stage.round(20_000)).toEqual([]);
  });

  test.each([{ overuse: 'Keep' }, { mode: 'DryRun' }])('keeps it where that is off: %o', async (settings) => {
    const stage = overused(settings);
    await stage.round();
    expect(await stage.round(60_000)).toEqual([]);
  });

  test('keeps what is refused', async () => {
    const stage = overused({});
    stage.state.answer = () => REFUSED;
    await stage.round();
    expect(await stage.round(30_000)).toEqual(['evict pod-0']);
    expect(stage.reclaim.evictedFor('other')).toEqual([]);
  });
});

describe('victims that do not end', () => {
  const nodes = { 'node-0': 2, 'node-1': 2, 'node-2': 2, 'node-3': 2 };
  const hang = (name: string, node: string, deletionAt: number) =>
    ({ ...RUNNING, name, node, deletionAt, isDisrupted: true }) as const;

  /** Four nodes with two pods each, and takers that need a whole node. */
  function hangingStage(takers: number) {
    const stage = reclaimStage({ queues: twoQueues(8), nodes });
    for (const [index, node] of Object.keys(nodes).entries()) {
      for (const each of [0, 1]) stage.see({ ...RUNNING, name: `pod-${2 * index + each}`, node });
    }
    for (let index = 0; index < takers; index += 1) stage.see({ ...UNGATED, name: `taker-${index}` });
    return stage;
  }

  const evicted = (sent: readonly string[]) =>
    sent.filter((what) => what.startsWith('evict')).map((what) => what.slice(6));

  test('a node that did not give back in time is not asked again', async () => {
    const stage = reclaimStage({ nodes: { 'node-0': 4 } });
    fill(stage, 4);
    stage.see(UNGATED);
    stage.see(hang('pod-0', 'node-0', HOUR - 61));
    expect(await stage.round()).toEqual([]);
  });

  test('of two takers cost two nodes, not all of them, and the takers are told', async () => {
    const stage = hangingStage(2);
    const first = evicted(await stage.round());
    expect(first).toHaveLength(4);
    for (const name of first) stage.see(hang(name, `node-${Math.floor(Number(name.slice(4)) / 2)}`, HOUR));
    for (const name of ['taker-0', 'taker-1']) stage.see({ ...UNGATED, name });
    expect(evicted(await stage.round(61_000))).toEqual([]);
    expect(evicted(await stage.round(600_000))).toEqual([]);
    expect(stage.reclaim.whyWaiting('uid-taker-0')?.code).toBe('VictimsHang');
    for (const name of first) stage.gone(name);
    expect(evicted(await stage.round(20_000))).toEqual([]);
    expect(stage.reclaim.whyWaiting('uid-taker-0')?.code).toBe('Room');
  });

  test('of a former leader count, as the status of the queue lists them', async () => {
    const because = { code: 'Reclaimed', text: '', facts: {} };
    const listed = [0, 2].map((at) => ({ pod: `shop/pod-${at}`, uid: `uid-pod-${at}`, node: `node-${at / 2}` }));
    const evictedBefore = (queue: string) =>
      queue === 'of-shop' ? listed.map((each) => ({ ...each, decision: 'd', at: 0, because })) : [];
    const sent = async (settings: StageSettings, lostFor?: number) => {
      const stage = reclaimStage({ queues: twoQueues(8), nodes, ...settings });
      for (const name of lostFor === undefined ? [] : ['node-0', 'node-1']) {
        const node = buildNode({ name, allocatable: { cpu: '2' } });
        putNode(stage.snapshot, { ...node, isUnready: true, unreadySince: (HOUR - (lostFor ?? 0)) * 1_000 });
      }
      for (const at of [0, 1, 2, 3]) stage.see({ ...RUNNING, name: `pod-${2 * at + 1}`, cpu: 2, node: `node-${at}` });
      for (const { pod, node } of listed) stage.see(hang(pod.slice(5), node, HOUR - 61));
      stage.see({ ...UNGATED, name: 'taker-0' });
      return [evicted(await stage.round()).length, stage.reclaim.whyWaiting('uid-taker-0')?.code];
    };
    expect(await sent({})).toEqual([1, 'Reclaim']);
    expect(await sent({ evictedBefore })).toEqual([0, 'VictimsHang']);
    // Those on nodes that are lost say nothing about the others, and may be there for ever.
    expect(await sent({ evictedBefore }, 200)).toEqual([0, 'VictimsHang']);
    expect(await sent({ evictedBefore }, 301)).toEqual([1, 'Reclaim']);
  });

  test('of one taker: it gets room on another node', async () => {
    const stage = hangingStage(1);
    const first = evicted(await stage.round());
    for (const name of first) stage.see(hang(name, 'node-0', HOUR));
    stage.see({ ...UNGATED, name: 'taker-0' });
    const second = evicted(await stage.round(61_000));
    expect([first.length, second.length, second.some((name) => first.includes(name))]).toEqual([2, 2, false]);
  });
});

import { describe, expect, test } from 'vitest';
import type { Outcome } from '#shared/kube/client/outcome.ts';
import { at } from '#test/contract/harness.ts';
import { GATE, type WatchedPod } from '#test/shared/decide/queues/queue-world.ts';
import { fill, fullStage, GATED, HOUR, OK, reclaimStage, RUNNING, UNGATED } from './reclaim-stage.ts';

const NO_BUDGET: Outcome<unknown> = {
  kind: 'tooManyRequests',
  message: 'the budget needs 8 pods',
  status: 429,
  details: { causes: [{ reason: 'DisruptionBudget', message: '', field: '' }], retryAfterSeconds: undefined },
};

describe('what is sent', () => {
  test.each([
    ['behind its gate', GATED],
    ['that was let in', UNGATED],
  ])('for a pod %s: the node is set aside, then others go, each by its UID', async (_, taker) => {
    const stage = fullStage(taker);
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
    const eviction = (name: string) => ({
      method: 'POST',
      path: `/api/v1/namespaces/shop/pods/${name}/eviction`,
      body: { deleteOptions: { preconditions: { uid: `uid-${name}` } } },
    });
    expect(stage.requests).toMatchObject([
      {
        method: 'PATCH',
        path: '/api/v1/namespaces/shop/pods/taker/status',
        body: { metadata: { uid: 'uid-taker' }, status: { nominatedNodeName: 'node-0' } },
      },
      ...['pod-0', 'pod-1'].map(eviction),
    ]);
    expect(stage.told('letIn')).toEqual([]);
  });

  test('the victims are told by whom, with the identity of the decision, and that they were evicted (S0-1)', async () => {
    const stage = fullStage({ ...GATED, cpu: 1 }, { mayBePreempted: false });
    await stage.round();
    const annotations = {
      'plimsoll.dev/eviction-reason': 'LastResort',
      'plimsoll.dev/eviction-decision': expect.stringMatching(/^[0-9a-f]{12}$/) as unknown,
    };
    expect(stage.requests[1]).toMatchObject({ body: { metadata: { annotations } } });
    const note =
      'evicted: queue of-shop is under its guarantee, and queue other over its own; it asked to be spared, but no other pods free enough room';
    expect(stage.told('events')).toMatchObject([
      { regarding: { name: 'pod-0', uid: 'uid-pod-0' }, reason: 'Reclaimed', type: 'Warning', note },
    ]);
  });

  test('pods that ask for a day to end get ten minutes where no others make room', async () => {
    const stage = fullStage(GATED, { spec: { terminationGracePeriodSeconds: 86_400 } });
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
    const graces = stage.requests.map(({ body }) => at(body, 'deleteOptions.gracePeriodSeconds'));
    expect(graces).toEqual([undefined, 600, 600]);
  });

  test('is counted', async () => {
    const stage = fullStage();
    stage.state.answer = (what) => (what === 'evict pod-1' ? NO_BUDGET : OK);
    await stage.round();
    const text = await stage.metrics.text();
    expect(text).toContain('plimsoll_queue_reclaim_decisions_total{decision="Evict",mode="Enforce"} 1\n');
    for (const outcome of ['evicted', 'tooManyRequests']) {
      expect(text).toContain(`plimsoll_queue_reclaim_evictions_total{outcome="${outcome}"} 1\n`);
    }
  });

  test.each<[string, WatchedPod, readonly string[]]>([
    ['without one', GATED, ['set taker node-0']],
    ['with one', { ...GATED, nominatedTo: 'node-0' }, ['clear taker', 'set taker node-0']],
  ])('nobody goes where the node cannot be set aside, for a pod %s', async (_, taker, expected) => {
    const stage = fullStage(taker);
    stage.state.answer = (what) => (what.startsWith('set') ? { kind: 'conflict', message: 'changed' } : OK);
    expect(await stage.round()).toEqual(expected);
    expect(stage.told('lines')).toMatchObject([
      { msg: 'Reclaiming room' },
      { msg: 'Node not set aside', fault: 'conflict' },
    ]);
  });

  test('nobody goes for a pod that is gone meanwhile', async () => {
    const stage = fullStage({ ...GATED, nominatedTo: 'node-0' });
    stage.state.answer = (what) => {
      if (what === 'clear taker') stage.gone('taker');
      return OK;
    };
    expect(await stage.round()).toEqual(['clear taker']);
  });

  test('once an eviction is refused, the others are not asked for', async () => {
    const stage = fullStage();
    stage.state.answer = (what) => (what.startsWith('evict') ? NO_BUDGET : OK);
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0']);
    expect(stage.told('lines')).toMatchObject([{}, { msg: 'Pod not evicted', pod: 'shop/pod-0', for: 'shop/taker' }]);
    expect(stage.told('events')).toEqual([]);
  });
});

describe('a leader that leads no longer', () => {
  test('sends nothing', async () => {
    const stage = fullStage({ ...GATED, nominatedTo: 'node-0' });
    stage.state.isHeld = false;
    expect(await stage.round()).toEqual([]);
  });

  test.each<[string, (stage: ReturnType<typeof fullStage>) => void]>([
    ['its lease', ({ state }) => void (state.isHeld = false)],
    ['its term', ({ leading }) => leading.abort()],
  ])('evicts nobody after it has lost %s', async (_, lose) => {
    const stage = fullStage();
    stage.state.answer = (what) => {
      if (what === 'evict pod-0') lose(stage);
      return OK;
    };
    expect(await stage.round()).toEqual(['set taker node-0', 'evict pod-0']);
  });
});

describe('a nomination', () => {
  const nominated = { ...GATED, nominatedTo: 'node-0' };

  test('is written again after ten seconds, and at once when another kube-scheduler takes over', async () => {
    const stage = fullStage(nominated, { deletionAt: HOUR + 60 });
    const again = ['clear taker', 'set taker node-0'];
    expect([await stage.round(), await stage.round(9_999), await stage.round(1)]).toEqual([again, [], again]);
    stage.reclaim.onSchedulerTakeover();
    expect([await stage.round(1), await stage.round(1)]).toEqual([again, []]);
  });

  test.each<[string, WatchedPod]>([
    ['has to wait for its queue', { ...nominated, cpu: 6 }],
    ['has not waited long enough', { ...nominated, createdAt: HOUR }],
  ])('is taken off a pod that %s', async (_, taker) => {
    const stage = fullStage(taker);
    expect(await stage.round()).toEqual(['clear taker']);
    expect(stage.told('letIn')).toEqual([]);
  });

  test('is taken off a pod for which nothing can be done, before its gate', async () => {
    const stage = fullStage(nominated, { priority: 1 });
    expect(await stage.round()).toEqual(['clear taker']);
    expect(stage.told('letIn')).toEqual(['shop/taker']);
  });

  test('stays while there is room, and while it is made', async () => {
    const stage = reclaimStage();
    fill(stage, 7);
    stage.see({ ...nominated, cpu: 1 });
    stage.see({ name: 'pod-8', ...RUNNING, deletionAt: HOUR });
    expect(await stage.round()).toEqual(['clear taker', 'set taker node-0']);
    expect(await stage.round(500)).toEqual([]);
    stage.gone('pod-8');
    expect(await stage.round(500)).toEqual([]);
  });

  test('stays while its pods are being evicted, and so does the reason', async () => {
    const stage = fullStage();
    const { promise, resolve } = Promise.withResolvers<Outcome<unknown>>();
    stage.state.answer = (what) => (what === 'evict pod-0' ? promise : OK);
    await stage.begin();
    stage.see(nominated);
    await stage.begin();
    expect(stage.reclaim.whyWaiting('uid-taker')?.code).toBe('Reclaim');
    resolve(OK);
    await stage.reclaim.settled();
    expect(stage.told('sent')).toEqual(['set taker node-0', 'evict pod-0', 'evict pod-1']);
  });

  test('of a pod that was let in is left to kube-scheduler', async () => {
    expect(await fullStage({ ...UNGATED, nominatedTo: 'node-0' }, { priority: 1 }).round()).toEqual([]);
  });
});

describe('the gate', () => {
  test.each<[string, WatchedPod, Partial<WatchedPod>, number, string]>([
    ['there is room', { ...GATED, nominatedTo: 'node-0' }, {}, 6, 'Room'],
    ['nobody may go', GATED, { priority: 1 }, 8, 'NotEnough'],
  ])('comes off where %s', async (_, taker, change, count, code) => {
    const stage = reclaimStage();
    // So much is let in that the pod seeks room.
    stage.see({ name: 'elsewhere', admittedTo: 'other', cpu: 8 });
    fill(stage, count, change);
    stage.see(taker);
    expect(await stage.round()).toEqual([]);
    expect([stage.told('letIn'), stage.reclaim.whyWaiting('uid-taker')?.code]).toEqual([['shop/taker'], code]);
  });

  test('the pod is told where nobody may go', async () => {
    const stage = fullStage(GATED, { priority: 1 });
    await stage.round();
    const note = expect.stringMatching(
      /^no node has enough pods .*; queue other is over .* and gives none: its pods have a higher priority$/,
    ) as string;
    expect(stage.told('events')).toMatchObject([{ regarding: { name: 'taker' }, reason: 'NoRoomReclaimed', note }]);
  });

  test('stays on before the delay of the queue is over, and nothing is said', async () => {
    const stage = fullStage({ ...GATED, createdAt: HOUR - 10 });
    expect(await stage.round()).toEqual([]);
    expect([stage.told('letIn'), stage.told('events')]).toEqual([[], []]);
    expect(stage.reclaim.whyWaiting('uid-taker')?.code).toBe('NotAboveDelay');
    expect(await stage.round(20_000)).toHaveLength(3);
  });
});

test('the dry run says each decision once, and sends nothing', async () => {
  const stage = fullStage(UNGATED, {}, { mode: 'DryRun' });
  stage.see({ name: 'gated', gates: [GATE], nominatedTo: 'node-1' });
  for (const afterMs of [0, 500, 500, 10_000]) expect(await stage.round(afterMs)).toEqual([]);
  const text = await stage.metrics.text();
  for (const [decision, count] of [
    ['Evict', 1],
    ['None', 0],
  ] as const)
    expect(text).toContain(`plimsoll_queue_reclaim_decisions_total{decision="${decision}",mode="DryRun"} ${count}\n`);
  expect(stage.told('lines')).toEqual([
    expect.objectContaining({
      msg: 'Would reclaim room (dry run)',
      pod: 'shop/taker',
      queue: 'of-shop',
      node: 'node-0',
      victims: ['shop/pod-0', 'shop/pod-1'],
    }),
  ]);
  expect([stage.told('letIn'), stage.told('events')]).toEqual([[], []]);
});

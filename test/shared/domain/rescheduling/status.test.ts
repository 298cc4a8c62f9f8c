import { expect, test } from 'vitest';
import { decodeEvictedPods } from '#shared/api/evicted-pods.ts';
import { encodeReschedulingStatus } from '#shared/api/rescheduling-status.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { evictedPod, statusOf } from '#shared/domain/rescheduling/status.ts';
import { buildNode } from '#test/build/cluster.ts';
import { NOON, passOn, replica } from '#test/build/rescheduling.ts';

const because = { code: 'Evens', text: 'evens loads', facts: {} };
const EVICTED = { pod: 'default/web', uid: 'u', node: 'a', decision: 'd', at: NOON, because };

test('the status tells what a pass looked at and decided, and which owners are left alone (S3-38)', () => {
  const nodes = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
  const pods = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 2}` }));
  const stop = { until: NOON + 3_600_000, text: 'kube-scheduler returned 2 of its pods to a', nodes: ['a'] };
  const owners = new Map([['default/ReplicaSet/o0 owner-o0', { moves: [], stop }]]);
  const policies = new Map([['underused', { missed: 0, rate: 1, expected: 1.239, reached: 2 }]] as const);
  const result = passOn({ nodes, pods, memory: { ...NO_MEMORY, owners, policies } });
  const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'o1', uid: 'owner-o1' };
  const keptAway = [{ owner, node: 'c', forMs: 60_000, because: { code: 'PodsRefused', text: 'refused', facts: {} } }];
  const status = encodeReschedulingStatus(
    statusOf({ ...result, keptAway }, { now: NOON, mode: 'DryRun', moved: 0, evicted: [EVICTED] }),
  );
  expect(status).toEqual({
    lastPass: '2026-09-21T14:13:20.000Z',
    mode: 'DryRun',
    considered: 9,
    planned: 1,
    moved: 0,
    moves: [
      {
        pod: 'default/p1',
        policy: 'underused',
        from: 'a',
        expectedOn: 'b',
        gain: '20',
        because: 'node a is at 90.0% of cpu by requests, above its target of 65%',
      },
    ],
    evicted: [
      {
        pod: 'default/web',
        uid: 'u',
        node: 'a',
        decision: 'd',
        at: '2026-09-21T14:13:20.000Z',
        code: 'Evens',
        because: 'evens loads',
      },
    ],
    left: [
      { code: 'SchedulerDisagrees', count: 5, example: stop.text },
      {
        code: 'OwnerWindow',
        count: 3,
        example: '1 pods of default/ReplicaSet/o1 are new, terminating or not yet replaced; at most 1 may be at a time',
      },
    ],
    overTarget: [
      {
        node: 'a',
        text: 'node a is at 80.0% of cpu by requests, above its target of 65%',
        obstacle: '5 SchedulerDisagrees, 3 OwnerWindow',
      },
    ],
    keptAway: [{ owner: 'default/ReplicaSet/o1', node: 'c', text: 'refused' }],
    stopped: [{ owner: 'default/ReplicaSet/o0', until: '2026-09-21T15:13:20.000Z', text: stop.text }],
    conditions: [
      {
        type: 'SchedulerDisagrees',
        status: 'True',
        reason: 'OwnersStopped',
        message: `default/ReplicaSet/o0: ${stop.text}`,
        lastTransitionTime: '2026-09-20T15:13:20.000Z',
      },
    ],
    policies: [{ policy: 'underused', rate: '1', expected: '1.24', reached: '2' }],
  });
});

test('the pods that were evicted are read back from the status, and nothing from what is none', () => {
  const result = passOn({ nodes: [], pods: [] });
  const evicted = Array.from({ length: 60 }, (_, n) => ({ ...EVICTED, uid: `u${n}` }));
  const status = encodeReschedulingStatus(statusOf(result, { now: NOON, mode: 'Enforce', moved: 5, evicted }));
  expect(decodeEvictedPods({ status: JSON.parse(JSON.stringify(status)) as object })).toEqual(evicted.slice(10));
  for (const raw of [7, {}, { status: 7 }, { status: { evicted: [{ pod: 'a' }, 3] } }])
    expect(decodeEvictedPods(raw)).toEqual([]);
});

test('the reason of a move names no pod of another namespace', () => {
  const nodes = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
  const [move] = passOn({
    nodes,
    pods: Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 2}` })),
  }).moves;
  if (move === undefined) throw new Error('no move');
  const reasonWith = (other: string) =>
    evictedPod(
      { ...move, because: { code: 'AntiAffinityBroken', text: `forbids pod ${other} next to it`, facts: { other } } },
      'd',
      NOON,
    ).because;
  expect(reasonWith('default/web').text).toBe('forbids pod default/web next to it');
  expect(reasonWith('shop/web')).toEqual({
    code: 'AntiAffinityBroken',
    text: 'forbids pod of another namespace next to it',
    facts: {},
  });
});

test.each([
  [0, undefined],
  [4, /^o0: back; o1: back; o2: back; and 1 more owners in status.stopped$/],
])('the condition names three of %i owners that are left alone', (count, message) => {
  const result = passOn({ nodes: [], pods: [] });
  const stopped = Array.from({ length: count }, (_, n) => ({ owner: `o${n}`, until: NOON + n, text: 'back' }));
  const status = statusOf(result, { now: NOON, mode: 'Enforce', moved: 0, evicted: [] });
  const encoded = encodeReschedulingStatus({ ...status, stopped }) as { readonly conditions: readonly object[] };
  expect(encoded.conditions).toEqual(
    message === undefined ? [] : [expect.objectContaining({ message: expect.stringMatching(message) as string })],
  );
});

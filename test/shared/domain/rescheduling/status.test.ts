import { expect, test } from 'vitest';
import { encodeReschedulingStatus } from '#shared/api/rescheduling-policy.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { statusOf } from '#shared/domain/rescheduling/status.ts';
import { buildNode } from '#test/build/cluster.ts';
import { NOON, passOn, replica } from '#test/build/rescheduling.ts';

test('the status tells what a pass looked at and decided, and which owners are left alone (S3-38)', () => {
  const nodes = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' } }));
  const pods = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: `o${n % 2}` }));
  const stop = { until: NOON + 3_600_000, text: 'kube-scheduler returned 2 of its pods to a', nodes: ['a'] };
  const owners = new Map([['default/ReplicaSet/o0 owner-o0', { moves: [], stop }]]);
  const policies = new Map([['underused', { missed: 0, rate: 1, expected: 1.239, reached: 2 }]] as const);
  const result = passOn({ nodes, pods, memory: { ...NO_MEMORY, owners, policies } });
  const status = encodeReschedulingStatus(statusOf(result, { now: NOON, mode: 'DryRun', moved: 0 }));
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
    left: [
      { code: 'SchedulerDisagrees', count: 5, example: stop.text },
      {
        code: 'OwnerWindow',
        count: 3,
        example: '1 pods of default/ReplicaSet/o1 are new, terminating or not yet replaced; 1 may be at a time',
      },
    ],
    stopped: [{ owner: 'default/ReplicaSet/o0', until: '2026-09-21T15:13:20.000Z', text: stop.text }],
    policies: [{ policy: 'underused', rate: '1', expected: '1.24', reached: '2' }],
  });
});

import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { putPod, removePod } from '#shared/domain/snapshot/snapshot-pods.ts';
import { runPass } from '#shared/domain/rescheduling/run-pass.ts';
import { NO_MEMORY } from '#shared/domain/rescheduling/memory.ts';
import { finish } from '#shared/domain/base/steps.ts';
import { buildNode } from '#test/build/cluster.ts';
import { MOVE_RULES, NOON, replica, UNDERUSED } from '#test/build/rescheduling.ts';
import { buildPressure } from '#test/build/node-pressure.ts';

/** A pod that the kubelet of node `a` did not run. */
function refused(name: string, reason = 'OutOfcpu', changes: Partial<Pod['status']> = {}): Pod {
  const pod = replica({ name, node: 'a', phase: 'Failed', startedAt: NOON - MINUTE_MS });
  return { ...pod, status: { ...pod.status, reason, ...changes } };
}

function keptAway(pods: readonly Pod[], isClosed = false, avoidUntil = 0) {
  const nodes = ['a', 'b'].map((name) =>
    buildNode({ name, allocatable: { cpu: '10', memory: '20Gi' }, isUnschedulable: isClosed && name === 'a' }),
  );
  const snapshot = createSnapshot({ nodes, pods: [replica({ name: 'works', node: 'a' })] });
  for (const pod of pods) putPod(snapshot, pod);
  const owner = { namespace: 'default', kind: 'ReplicaSet', name: 'web', uid: 'owner-web' };
  snapshot.pressures.set('a', buildPressure('a', { avoid: [{ owner, until: avoidUntil, isHard: false }] }));
  const policy = { ...UNDERUSED, underused: undefined, badService: { refused: 2, move: 'Victim' } } as const;
  const result = finish(runPass(snapshot, policy, { now: NOON, memory: NO_MEMORY, rules: MOVE_RULES }));
  expect(result.moves).toEqual([]);
  return { snapshot, entries: result.keptAway };
}

describe('an owner whose pods a kubelet refuses (S3-4)', () => {
  test('is kept away from the node for an hour, and its pods that run there stay', () => {
    const { entries } = keptAway([refused('x'), refused('y', 'UnexpectedAdmissionError')]);
    expect(entries).toMatchObject([
      {
        owner: { name: 'web' },
        node: 'a',
        forMs: 3_600_000,
        because: {
          code: 'PodsRefused',
          text: 'the kubelet of node a refused 2 of its pods within an hour (limit 2): UnexpectedAdmissionError',
        },
      },
    ]);
  });

  test.each<[string, readonly Pod[]]>([
    ['too few were refused', [refused('x')]],
    ['one of them failed for another reason', [refused('x'), refused('y', 'Evicted')]],
    ['one of them is not known to be refused', [refused('x'), refused('y', 'OutOfcpu', { phase: 'Running' })]],
    [
      'one of them was refused long ago',
      [refused('x'), refused('y', 'OutOfcpu', { startTime: NOON - 61 * MINUTE_MS })],
    ],
    ['one of them belongs to no controller', [refused('x'), { ...refused('y'), owners: [] }]],
    [
      'they belong to two owners',
      [refused('x'), { ...refused('y'), owners: replica({ name: 'z', owner: 'other' }).owners }],
    ],
  ])('is not where %s', (_, pods) => {
    expect(keptAway(pods).entries).toEqual([]);
  });

  test('is not kept away from a node that is closed, or that it is kept away from already', () => {
    const pods = [refused('x'), refused('y')];
    expect(keptAway(pods, true).entries).toEqual([]);
    expect(keptAway(pods, false, NOON + 1).entries).toEqual([]);
    expect(keptAway(pods, false, NOON - 1).entries).toHaveLength(1);
  });

  test('refused pods that are deleted are forgotten, and of very many the latest are kept', () => {
    const { snapshot } = keptAway([refused('x'), refused('y')]);
    removePod(snapshot, refused('x'));
    expect([...snapshot.refusals.keys()]).toEqual(['uid-y']);
    for (let n = 0; n < 2_100; n += 1) putPod(snapshot, refused(`many${n}`));
    expect(snapshot.refusals.size).toBe(2_000);
    expect(snapshot.refusals.has('uid-many2099')).toBe(true);
  });
});

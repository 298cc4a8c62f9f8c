import { describe, expect, test } from 'vitest';
import { disruptionOf } from '#shared/domain/disruption/removal.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { emptySnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { putNode } from '#shared/domain/snapshot/create-snapshot.ts';
import type { KubeObject } from '#shared/kube/kube-object.ts';
import { reportedEvictions, watchRemovals } from '#scheduler/disruptions/watch-removals.ts';
import { createPodSink } from '#scheduler/pod-sink.ts';
import { buildNode } from '#test/build/cluster.ts';

const NOW = Date.parse('2026-11-26T12:00:00Z');
const OWNER = { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'uid-web', controller: true };
const DELETED = { deletionTimestamp: '2026-11-26T12:00:30Z', deletionGracePeriodSeconds: 30 };
const NOTHING: object = {};
const BOUND: object = { nodeName: 'node-1' };

function pod(name: string, { spec = BOUND, status = NOTHING, metadata = NOTHING } = {}): KubeObject {
  return {
    metadata: { namespace: 'team', name, uid: `uid-${name}`, ownerReferences: [OWNER], ...metadata },
    spec,
    status,
  };
}

function target(reason: string, status = 'True'): object {
  return { conditions: [{ type: 'DisruptionTarget', status, reason }] };
}

function taint(key: string) {
  return { key, value: '', effect: 'NoSchedule' };
}

/** The watch of pods, as the scheduler process wires it; what it shows is written an hour later at the latest. */
function watching({ isFirstList = false, node = buildNode({ name: 'node-1' }) } = {}) {
  const removals = new Removals();
  const snapshot = emptySnapshot();
  putNode(snapshot, node);
  const state = { isFirstList };
  const watch = watchRemovals(removals, { now: () => NOW }, () => state.isFirstList);
  const report = (error: unknown) => {
    throw error;
  };
  const sink = createPodSink(snapshot, report, watch);
  const records = () => removals.due(NOW + 3_600_000, 100).map(({ removal }) => disruptionOf(removal));
  const causes = () => records().map(({ spec }) => `${spec.pod}: ${spec.cause}`);
  return { sink, state, records, causes };
}

describe('watchRemovals', () => {
  test('the record names the rule by which the removed pod got its class (S3-9)', () => {
    const { sink, records } = watching();
    const annotations = { 'plimsoll.dev/class-rule': 'tenants/jobs' };
    sink.set(pod('a', { metadata: { annotations } }));
    sink.set(pod('a', { metadata: { annotations, ...DELETED } }));
    expect(records().map(({ spec }) => spec.classRule)).toEqual(['tenants/jobs']);
  });

  test.each([
    ['a cordon', { isUnschedulable: true }, 'a: Drain'],
    ['the autoscaler', { taints: [taint('ToBeDeletedByClusterAutoscaler')] }, 'a: Drain'],
    ['Karpenter', { taints: [taint('karpenter.sh/disrupted')] }, 'a: Drain'],
    ['an older Karpenter', { taints: [taint('karpenter.sh/disruption')] }, 'a: Drain'],
    ['nothing', { taints: [taint('example.com/dedicated')] }, 'a: Unknown'],
  ])('an eviction from a node that %s empties', (_, change, cause) => {
    const { sink, causes } = watching({ node: { ...buildNode({ name: 'node-1' }), ...change } });
    sink.set(pod('a'));
    sink.set(pod('a', { status: target('EvictionByEvictionAPI'), metadata: DELETED }));
    expect(causes()).toEqual([cause]);
  });

  test.each<readonly [string, readonly KubeObject[], readonly string[]]>([
    ['a pod that runs', [pod('a'), pod('a')], []],
    ['a pod that terminates', [pod('a'), pod('a', { metadata: DELETED })], ['a: Deletion']],
    ['one that terminated before it was first seen', [pod('a', { metadata: DELETED })], ['a: Deletion']],
    ['one that is not on a node', [pod('a', { spec: {}, metadata: DELETED })], []],
    [
      'one that has ended by itself',
      [
        pod('a'),
        pod('a', { status: { phase: 'Succeeded' } }),
        pod('a', { status: { phase: 'Succeeded' }, metadata: DELETED }),
      ],
      [],
    ],
    ['one whose containers failed', [pod('a'), pod('a', { status: { phase: 'Failed' } })], []],
    [
      'one that a kubelet evicted',
      [pod('a'), pod('a', { status: { phase: 'Failed', reason: 'Evicted', ...target('TerminationByKubelet') } })],
      ['a: KubeletEviction'],
    ],
    [
      'one that had failed before it was first seen',
      [pod('a', { status: { phase: 'Failed', ...target('TerminationByKubelet') } })],
      [],
    ],
    [
      'one whose eviction came to nothing, and which is deleted later',
      [
        pod('a', { status: target('EvictionByEvictionAPI', 'False') }),
        pod('a', { status: target('EvictionByEvictionAPI', 'False'), metadata: DELETED }),
      ],
      ['a: Deletion'],
    ],
    [
      'one that the kernel killed',
      [
        pod('a'),
        pod('a', {
          status: {
            phase: 'Failed',
            containerStatuses: [{ name: 'main', state: { terminated: { reason: 'OOMKilled' } } }],
          },
        }),
      ],
      ['a: OOMKill'],
    ],
  ])('%s', (_, states, expected) => {
    const { sink, causes } = watching();
    for (const state of states) sink.set(state);
    expect(causes()).toEqual(expected);
  });

  test('a pod that is gone without having been seen to terminate', () => {
    const { sink, records } = watching();
    sink.set(pod('a'));
    sink.remove(pod('a', { metadata: DELETED }));
    expect(records()).toMatchObject([{ spec: { cause: 'Deletion', removedAt: NOW }, outcome: { goneAt: NOW } }]);
  });

  test('a pod that a new list lacks was removed by an unknown cause', () => {
    const { sink, causes } = watching();
    sink.set(pod('a'));
    sink.replace()();
    expect(causes()).toEqual(['a: Unknown']);
  });

  test('removedAt of a pod that was terminating before is when its deletion was accepted', () => {
    const { sink, records } = watching();
    sink.set(pod('a', { metadata: { ...DELETED, deletionTimestamp: '2026-11-26T11:59:40Z' } }));
    expect(records()[0]?.spec.removedAt).toBe(Date.parse('2026-11-26T11:59:10Z'));
  });

  test('the pods of the first list replace none, later ones do', () => {
    const { sink, state, records } = watching({ isFirstList: true });
    sink.set(pod('a', { metadata: DELETED }));
    sink.set(pod('old'));
    state.isFirstList = false;
    expect(records()[0]?.outcome.replacement).toBeUndefined();
    sink.set(pod('new', { spec: {} }));
    sink.set(pod('new'));
    expect(records()[0]?.outcome.replacement).toEqual({ pod: 'new', node: 'node-1' });
  });
});

describe('reportedEvictions', () => {
  const because = { code: 'HardThresholdMet', text: 'x', facts: {} };
  const eviction = {
    ...{
      pod: 'team/a',
      uid: 'uid-a',
      owner: undefined,
      signal: 'memory.available',
      stage: 'severe',
      endedAt: undefined,
    },
    mode: 'Enforce' as const,
    outcome: 'evicted',
    requestedAt: NOW,
    because,
  };
  const next = { pod: 'other/b', uid: 'uid-b', priority: 5, usage: undefined, request: undefined, because };

  function reported(change: Partial<typeof eviction> | { readonly mode: 'DryRun' }) {
    const status = {
      observedAt: NOW,
      observedGeneration: 1,
      mode: 'Enforce' as const,
      policy: undefined,
      agent: undefined,
    };
    const lists = {
      conditions: [],
      signals: [],
      next: [next],
      evictions: [{ ...eviction, ...change }],
      rules: undefined,
    };
    return reportedEvictions({
      name: 'node-1',
      resourceVersion: '1',
      avoid: [],
      preemptionLoops: [],
      status: { ...status, ...lists },
    }).map(({ uid, node, ranked }) => ({ uid, node, ranked }));
  }

  test('an eviction that the API server accepted, with the pods ranked next', () => {
    const ranked = [{ namespace: 'other', pod: 'b', priority: 5, code: 'HardThresholdMet' }];
    expect(reported({})).toEqual([{ uid: 'uid-a', node: 'node-1', ranked }]);
  });

  test.each([
    ['in dry run', { mode: 'DryRun' as const }],
    ['refused', { outcome: 'refused' }],
    ['of a pod that was terminating anyway', { outcome: 'foundEnding' }],
    ['long ago', { requestedAt: NOW - 61_000 }],
  ])('none %s', (_, change) => {
    expect(reported(change)).toEqual([]);
  });
});

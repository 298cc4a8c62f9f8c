import { describe, expect, test } from 'vitest';
import {
  explainHigherVictim,
  groupReasons,
  ruledOutBecause,
  ruledOutReason,
} from '#shared/domain/preemption/explain/explain-higher-victim.ts';
import { explainStuckPreemptor } from '#shared/domain/preemption/explain/explain-stuck-preemptor.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import { simulatePreemption } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import { createSnapshot, type ClusterObjects } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildBudget, buildNode, buildPod, buildTerm, type PodFields } from '#test/build/cluster.ts';
import { readSeed, seedBudgets, seedNode, seedPod } from '#test/shared/domain/preemption/seed-cluster.ts';

const ZONE = 'topology.kubernetes.io/zone';
const node = (name: string, cpu = '10') => buildNode({ name, allocatable: { cpu }, labels: { [ZONE]: 'a' } });
const pod = (name: string, fields: Partial<PodFields>): Pod =>
  buildPod({ name, requests: { cpu: '10' }, labels: { app: name }, ...fields });
const created = (name: string, at: number, fields: Partial<PodFields>): Pod => ({
  ...pod(name, fields),
  createdAt: at,
});

function attempt(objects: ClusterObjects, pending: Pod) {
  const snapshot = createSnapshot(objects);
  const state = prefilter(snapshot, pending);
  const simulation = simulatePreemption(snapshot, pending);
  const ruledOut = simulation.kind === 'fits' ? [] : simulation.ruledOut;
  return { state, simulation, ruledOut };
}

describe('why a pod of higher priority goes although a lower one exists (S1-25)', () => {
  const explain = (objects: ClusterObjects, pending: Pod) => {
    const { state, simulation } = attempt(objects, pending);
    return simulation.kind === 'preempts'
      ? explainHigherVictim(state, simulation).map(({ code, facts }) => [code, facts['pod']])
      : simulation;
  };

  test('a disruption budget protects it: the worked example', () => {
    const { given } = readSeed<unknown>('s1-25');
    const { nodes, running, pending } = given;
    if (pending === undefined) throw new Error('the example has no pending pod');
    const cluster = { nodes: nodes.map(seedNode), pods: running.map(seedPod), budgets: seedBudgets(running) };
    expect(explain(cluster, seedPod(pending))).toEqual([['BudgetProtected', 'default/low']]);
  });

  test.each<[string, ClusterObjects, unknown]>([
    [
      'the pod does not fit on its node',
      {
        nodes: [node('a'), node('b', '9')],
        pods: [pod('mid', { node: 'a', priority: 5 }), pod('low', { node: 'b', priority: 1, requests: { cpu: '9' } })],
      },
      [['NodeDidNotFit', 'default/low']],
    ],
    [
      'nothing to explain where the lowest goes',
      {
        nodes: [node('a'), node('b')],
        pods: [pod('mid', { node: 'a', priority: 5 }), pod('low', { node: 'b', priority: 1 })],
      },
      [],
    ],
    [
      'on the same node its removal is not needed',
      {
        nodes: [node('a', '11')],
        pods: [pod('mid', { node: 'a', priority: 5 }), pod('low', { node: 'a', priority: 1, requests: { cpu: '1' } })],
      },
      [['RemovalNotNeeded', 'default/low']],
    ],
    [
      'on the same node a disruption budget keeps it',
      {
        nodes: [node('a', '20')],
        pods: [pod('mid', { node: 'a', priority: 5 }), pod('low', { node: 'a', priority: 1 })],
        budgets: [buildBudget('keeps-low', { app: 'low' }, 0)],
      },
      [['BudgetProtected', 'default/low']],
    ],
  ])('%s', (_, objects, expected) => {
    expect(explain(objects, pod('pending', { priority: 10 }))).toEqual(expected);
  });
});

describe('what keeps a pod off a node that preemption cannot free', () => {
  const explain = (objects: ClusterObjects, pending: Pod) => {
    const { state, ruledOut } = attempt(objects, pending);
    return ruledOut
      .map((each) => ruledOutBecause(state, each))
      .map((because) => because && [because.code, because.facts['node'], because.facts['pod']]);
  };
  const avoids = { podAntiAffinity: [buildTerm({ app: 'q' }, ZONE)] };
  const small = { requests: { cpu: '1' } };

  test('a pod on another node of the zone is named (S0-3, S1-21)', () => {
    const cluster = { nodes: [node('n'), node('m')], pods: [pod('q', { ...small, node: 'm', priority: 200 })] };
    const pending = pod('pending', { ...small, priority: 100, scheduling: avoids });
    expect(explain(cluster, pending)).toEqual([['BlockedFromOtherNode', 'n', 'default/q'], undefined]);
  });

  test('a pod of lower priority that the pod wants to be with is named (S1-20)', () => {
    const cluster = { nodes: [node('n')], pods: [pod('partner', { node: 'n', priority: 1 })] };
    const near = { podAffinity: [buildTerm({ app: 'partner' })] };
    const pending = pod('pending', { priority: 100, scheduling: near });
    expect(explain(cluster, pending)).toEqual([['AffinityToLowerPod', 'n', 'default/partner']]);
  });

  test('shortage alone names no pod', () => {
    const cluster = { nodes: [node('n')], pods: [pod('high', { node: 'n', priority: 200 })] };
    expect(explain(cluster, pod('pending', { priority: 100 }))).toEqual([undefined]);
  });
});

describe('groupReasons', () => {
  test('nodes with one reason are one group, the largest first', () => {
    const nodes = [node('a', '1'), node('b', '1'), { ...node('c'), isUnschedulable: true }];
    const { state, ruledOut } = attempt({ nodes, pods: [] }, pod('pending', { priority: 1 }));
    expect(groupReasons(state, ruledOut)).toEqual([
      { reason: 'Insufficient cpu; preemption cannot help', count: 2, nodes: ['a', 'b'] },
      { reason: 'node(s) were unschedulable; preemption cannot help', count: 1, nodes: ['c'] },
    ]);
  });

  test('a pod that never preempts hears what each node says', () => {
    const cluster = { nodes: [node('a')], pods: [pod('low', { node: 'a', priority: 1 })] };
    const never = pod('pending', { priority: 9, spec: { preemptionPolicy: 'Never' } });
    const { state, ruledOut } = attempt(cluster, never);
    expect(ruledOut.map((each) => ruledOutReason(state, each))).toEqual(['Insufficient cpu']);
  });
});

describe('a preemptor that is not placed in time (S1-24)', () => {
  const preemptor = created('preemptor', 1_000, { priority: 100, nominatedTo: 'n' });
  const leaving = (at: number, priority = 1): Pod =>
    pod('victim', { node: 'n', priority, deletion: { at, gracePeriodSeconds: 30 } });
  const explain = (pods: readonly Pod[], now: number, pending = preemptor) =>
    explainStuckPreemptor(prefilter(createSnapshot({ nodes: [node('n')], pods }), pending), now, 30_000);

  test.each<[string, readonly Pod[], string | undefined, string | undefined]>([
    ['a victim within its grace period and the margin is no reason', [leaving(80_000)], undefined, undefined],
    ['a victim that hangs is named', [leaving(50_000)], 'VictimHangs', 'default/victim'],
    [
      'a higher pod that came later is named',
      [created('newer', 2_000, { node: 'n', priority: 200 })],
      'HigherPodCame',
      'default/newer',
    ],
    [
      'a pod that took the room is named',
      [created('newer', 2_000, { node: 'n', priority: 5 })],
      'RoomTaken',
      'default/newer',
    ],
    ['otherwise the node is named', [created('older', 500, { node: 'n', priority: 200 })], 'StillRefused', undefined],
    ['a pod that fits now is not stuck', [], undefined, undefined],
    ['a terminating pod of higher priority was no victim', [leaving(50_000, 200)], 'StillRefused', undefined],
  ])('%s', (_, pods, code, name) => {
    const because = explain(pods, 100_000);
    expect([because?.code, because?.facts['pod']]).toEqual([code, name]);
  });

  test('a pod without a nominated node waits for no victim', () => {
    expect(explain([leaving(0)], 100_000, pod('other', { priority: 100 }))).toBeUndefined();
  });
});

import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { NO_MEMORY, type PastMove } from '#shared/domain/rescheduling/memory.ts';
import type { ReschedulingPolicy } from '#shared/domain/rescheduling/policy.ts';
import { buildNode, buildSpread, buildTerm, mapOf, selectorOf } from '#test/build/cluster.ts';
import { AFFINITY, movesOf, NOON, passOn, replica, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: SIZE, labels: { disk: name } }));
const OWNER = 'default/ReplicaSet/web owner-web';

describe('pods that a pass looks at', () => {
  const scheduling = { nodeSelector: mapOf({ disk: 'b' }) };
  const other = replica({ name: 'other', node: 'b' });

  test('one that terminates is not among them', () => {
    const deletion = { at: NOON, gracePeriodSeconds: 30 };
    const leaving = replica({ name: 'leaving', node: 'a', scheduling, deletion });
    expect(passOn({ nodes: NODES, pods: [leaving, other], policy: AFFINITY }).considered).toBe(0);
    const staying = replica({ name: 'staying', node: 'a', scheduling });
    expect(passOn({ nodes: NODES, pods: [staying, other], policy: AFFINITY }).considered).toBe(1);
  });

  test('rules about pods of a namespace do not tie moves in another one together', () => {
    const spread = { topologySpread: [buildSpread('disk', { labelSelector: selectorOf({ app: 'web' }) })] };
    const pods = ['default', 'shop'].flatMap((namespace) =>
      [0, 1, 2].map((n) => replica({ name: `${namespace}${n}`, namespace, node: 'a', scheduling: spread })),
    );
    expect(movesOf(passOn({ nodes: NODES, pods, policy: AFFINITY }))).toEqual(['default0 a>b', 'shop0 a>b']);
  });

  test('two that keep apart from a third one are moved in one pass', () => {
    const apart = { ...scheduling, podAntiAffinity: [buildTerm({ app: 'none' })] };
    const pods = ['x', 'y'].flatMap((owner) => [
      replica({ name: owner, node: 'a', owner, scheduling: apart }),
      replica({ name: `${owner}1`, node: 'b', owner }),
    ]);
    expect(movesOf(passOn({ nodes: NODES, pods, policy: AFFINITY }))).toEqual(['x a>b', 'y a>b']);
  });
});

describe('what a move of an earlier pass has reached', () => {
  function move(policy: PastMove['policy']): PastMove {
    return {
      uid: 'x',
      policy,
      from: 'a',
      expectedOn: 'b',
      at: NOON - 60_000,
      expected: 40,
      replicas: 1,
      sourceLoad: [],
      replacement: undefined,
    };
  }

  function reached(past: PastMove, pod: Pod, policy: ReschedulingPolicy): number | undefined {
    const memory = { ...NO_MEMORY, owners: new Map([[OWNER, { moves: [past], stop: undefined }]]) };
    const result = passOn({ nodes: NODES, pods: [pod], policy, memory });
    return result.memory.owners.get(OWNER)?.moves[0]?.replacement?.reached;
  }

  test.each<[string, PastMove['policy'], string, number]>([
    ['all, where a rule is kept elsewhere', 'affinity', 'b', 40],
    ['nothing, where the pod is back', 'affinity', 'a', 0],
    ['all, where it works elsewhere', 'badService', 'b', 40],
    ['nothing, where it fails on its node again', 'badService', 'a', 0],
    ['all, where loads are not looked at any more', 'underused', 'b', 40],
  ])('%s', (_, policy, node, expected) => {
    const replacement = replica({ name: 'new', node, startedAt: NOON - 30_000 });
    expect(reached(move(policy), replacement, AFFINITY)).toBe(expected);
  });

  test.each<[string, ReschedulingPolicy, number]>([
    [
      'nothing, where the replacement restarts as often',
      { ...UNDERUSED, badService: { restarts: 5, move: 'Victim' } },
      0,
    ],
    ['all, where restarts are not looked at any more', UNDERUSED, 40],
  ])('%s', (_, policy, expected) => {
    const pod = replica({ name: 'new', node: 'b', startedAt: NOON - 30_000 });
    const container = { name: 'main', restartCount: 9, resources: undefined, allocatedResources: undefined };
    const failing = { ...pod, status: { ...pod.status, containers: [container] } };
    const settled = { ...move('badService'), replacement: { uid: pod.uid, node: 'b', reached: 40 } };
    expect(reached(settled, failing, policy)).toBe(expected);
  });
});

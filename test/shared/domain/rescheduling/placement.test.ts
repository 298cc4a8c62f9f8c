import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { buildNode, buildSpread, buildTerm, mapOf } from '#test/build/cluster.ts';
import { AFFINITY, codeOf, movesOf, passOn, replica, type ReplicaFields, UNDERUSED } from '#test/build/rescheduling.ts';

const SIZE = { cpu: '10', memory: '20Gi' };
const node = (name: string, labels: Readonly<Record<string, string>> = {}) =>
  buildNode({ name, labels, allocatable: SIZE });

/** Pods of three owners on node a, which they fill to 90 %. */
function crowd(change: Partial<ReplicaFields> = {}): readonly Pod[] {
  const indexes = Array.from({ length: 9 }, (_, index) => index);
  return indexes.map((index) => replica({ name: `p${index}`, node: 'a', owner: `o${index % 3}`, ...change }));
}

describe('where kube-scheduler would place a replacement', () => {
  test('a move to a node that kube-scheduler would not choose has no gain', () => {
    const scheduling = { preferredNodeTerms: [{ weight: 100, term: inZone('full') }] };
    const nodes = [node('a', { zone: 'full' }), node('b', { zone: 'full' }), node('c')];
    const full = Array.from({ length: 8 }, (_, n) => replica({ name: `b${n}`, node: 'b', owner: `b${n}` }));
    const result = passOn({ nodes, pods: [...crowd({ scheduling }), ...full] });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('LittleGain');
  });

  test.each<[string, Partial<ReplicaFields>, string]>([
    ['its node selector', { scheduling: { nodeSelector: mapOf({ disk: 'ssd' }) } }, 'FitsNowhere'],
    ['what it requests', { requests: { cpu: '1', memory: '1Gi', 'example.com/gpu': '1' } }, 'NotSeenToFit'],
    ['its anti-affinity', { scheduling: { podAntiAffinity: [buildTerm({ app: 'guard' })] } }, 'SchedulerWouldReturnIt'],
    ['the ports that are taken', { hostPorts: [80] }, 'FitsNowhere'],
  ])('a pod is not moved against %s', (_, change, code) => {
    const guard = replica({ name: 'guard', node: 'b', owner: 'guard', hostPorts: [80] });
    const result = passOn({ nodes: [node('a'), node('b')], pods: [...crowd(change), guard] });
    expect(movesOf(result)).toEqual([]);
    expect([undefined, code]).toContain(codeOf(result, 'p0'));
  });

  test('two replicas that keep apart are not moved in one pass', () => {
    const scheduling = { podAntiAffinity: [buildTerm({ app: 'o0' })] };
    const pods = Array.from({ length: 9 }, (_, n) => replica({ name: `p${n}`, node: 'a', owner: 'o0', scheduling }));
    const result = passOn({ nodes: [node('a'), node('b'), node('c')], pods, policy: AFFINITY });
    expect(movesOf(result)).toHaveLength(1);
    expect(result.moves[0]?.because.code).toBe('AntiAffinityBroken');
  });

  test('no move uses the room that an earlier move of the pass frees (S3-46)', () => {
    const toC = { scheduling: { nodeSelector: mapOf({ zone: 'c' }) } };
    const inPool = { scheduling: { nodeSelector: mapOf({ pool: 'x' }) } };
    const requests = { cpu: '9500m', memory: '1Gi' };
    const pods = [
      replica({ name: 'first', node: 'a', owner: 'one', requests, ...toC }),
      replica({ name: 'other', node: 'c', owner: 'one', requests: { cpu: '100m' }, ...toC }),
      ...crowd({ node: 'b', ...inPool }),
    ];
    const large = buildNode({ name: 'c', labels: { zone: 'c' }, allocatable: { cpu: '40', memory: '80Gi' } });
    const nodes = [node('a', { pool: 'x' }), node('b', { pool: 'x' }), large];
    const result = passOn({ nodes, pods, policy: { ...UNDERUSED, affinity: AFFINITY.affinity } });
    expect(movesOf(result)).toEqual(['first a>c']);
    expect(codeOf(result, 'p0')).toBe('SchedulerWouldReturnIt');
  });

  test('a cordoned node that looks empty is not what the replacement gets', () => {
    const closed = buildNode({ name: 'b', allocatable: SIZE, isUnschedulable: true });
    expect(movesOf(passOn({ nodes: [node('a'), closed, node('c')], pods: crowd() }))).toEqual([
      'p0 a>c',
      'p1 a>c',
      'p2 a>c',
    ]);
  });
});

describe('affinity', () => {
  test('moves a pod off a node that its required affinity forbids', () => {
    const scheduling = { nodeSelector: mapOf({ disk: 'ssd' }) };
    const pods = [0, 1].map((n) => replica({ name: `p${n}`, node: 'a', scheduling }));
    const result = passOn({ nodes: [node('a'), node('b', { disk: 'ssd' })], pods, policy: AFFINITY });
    expect(movesOf(result)).toEqual(['p0 a>b']);
    expect(result.moves[0]?.gain).toBe(100);
  });

  test('a broken rule is no reason to evict a pod that no allowed node has room for', () => {
    const scheduling = { nodeSelector: mapOf({ disk: 'ssd' }) };
    const pods = [0, 1].map((n) => replica({ name: `p${n}`, node: 'a', scheduling }));
    const full = replica({ name: 'full', node: 'b', owner: 'full', requests: { cpu: '9500m', memory: '1Gi' } });
    const result = passOn({ nodes: [node('a'), node('b', { disk: 'ssd' })], pods: [...pods, full], policy: AFFINITY });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('FitsNowhere');
  });

  test('moves a pod to a node that it prefers, and not for a small weight', () => {
    const withWeight = (weight: number) => {
      const scheduling = { preferredNodeTerms: [{ weight, term: inZone('z') }] };
      const pods = [0, 1].map((n) => replica({ name: `p${n}`, node: 'a', scheduling }));
      return movesOf(passOn({ nodes: [node('a'), node('b', { zone: 'z' })], pods, policy: AFFINITY }));
    };
    expect(withWeight(50)).toEqual(['p0 a>b']);
    expect(withWeight(5)).toEqual([]);
  });

  test('moves a pod of the fullest domain where a spread is broken', () => {
    const scheduling = { topologySpread: [buildSpread('zone', { labelSelector: selector('web') })] };
    const pods = [0, 1, 2].map((n) => replica({ name: `p${n}`, node: 'a', scheduling }));
    const nodes = [node('a', { zone: 'x' }), node('b', { zone: 'y' })];
    const result = passOn({ nodes, pods, policy: AFFINITY });
    expect(movesOf(result)).toEqual(['p0 a>b']);
    expect(result.moves[0]?.because.code).toBe('SpreadBroken');
  });

  test('an even load does not cost a pod what it prefers', () => {
    const scheduling = { preferredNodeTerms: [{ weight: 1, term: inZone('z') }] };
    const nodes = [node('a', { zone: 'z' }), node('b')];
    const result = passOn({ nodes, pods: crowd({ scheduling }), policy: UNDERUSED });
    expect(movesOf(result)).toEqual([]);
    expect(codeOf(result, 'p0')).toBe('LosesPreference');
  });
});

function inZone(zone: string) {
  return { matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }], matchFields: [] };
}

function selector(app: string) {
  return { matchLabels: mapOf({ app }), matchExpressions: [] };
}

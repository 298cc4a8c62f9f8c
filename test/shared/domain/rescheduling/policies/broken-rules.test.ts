import { describe, expect, test } from 'vitest';
import type { Pod, PodAffinityTerm, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { antiAffinityCheck } from '#shared/domain/rescheduling/policies/anti-affinity.ts';
import { nodeAffinityCheck, type RuleCheck, spreadCheck } from '#shared/domain/rescheduling/policies/broken-rules.ts';
import type { MovablePod } from '#shared/domain/rescheduling/running-pod.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { buildNode, buildSpread, buildTerm, mapOf, selectorOf } from '#test/build/cluster.ts';
import { clusterWith, NOON, replica, type ReplicaFields, runningIn } from '#test/build/rescheduling.ts';

const NODES = [
  buildNode({ name: 'a', labels: { zone: 'x' } }),
  buildNode({ name: 'b', labels: { zone: 'x' } }),
  buildNode({ name: 'c', labels: { zone: 'y' } }),
  buildNode({ name: 'd' }),
];
/** What a check says of a pod on its node, both ways. */
function reasonOf({ isBroken, why }: RuleCheck, { placed, node }: Pick<MovablePod, 'placed' | 'node'>) {
  const because = why(placed, node);
  expect(isBroken(placed, node)).toBe(because !== undefined);
  return because;
}

const TERMINATING = { deletion: { at: NOON, gracePeriodSeconds: 30 } };

describe('required anti-affinity', () => {
  const zone = buildTerm({ app: 'db' }, 'zone');
  const own = buildTerm({ app: 'web' }, 'zone');
  const labelled = (values: readonly string[]): PodAffinityTerm => ({
    ...zone,
    labelSelector: { matchLabels: mapOf(), matchExpressions: [{ key: 'app', operator: 'In', values }] },
  });
  const either = labelled(['db', 'cache']);
  const both = buildTerm({ app: 'db', tier: 'back' }, 'zone');
  const named = { ...zone, namespaces: ['shop'] };
  const inShop = { ...zone, namespaceSelector: selectorOf({ team: 'a' }) };
  const db = (node: string, change: Partial<ReplicaFields> = {}) =>
    replica({ name: `db-${node}`, node, owner: 'db', ...change });
  const shop = { namespace: 'shop' };

  test.each<[string, string, PodAffinityTerm, readonly Pod[], string | undefined]>([
    ['is broken by a pod on the node', 'a', buildTerm({ app: 'db' }), [db('a')], 'default/db-a'],
    ['is kept by a pod on another node', 'a', buildTerm({ app: 'db' }), [db('b')], undefined],
    ['is broken by a pod on another node of the zone', 'a', zone, [db('b'), db('c')], 'default/db-b'],
    ['is kept by a pod in another zone', 'a', zone, [db('c')], undefined],
    ['is kept by a pod that terminates', 'a', zone, [db('b', TERMINATING)], undefined],
    ['is kept by pods that it does not select', 'a', zone, [db('a', { labels: {} })], undefined],
    ['means no domain on a node without the label', 'd', zone, [db('d')], undefined],
    ['does not mean pods of other namespaces', 'a', zone, [db('a', shop)], undefined],
    ['is broken by a pod without a controller', 'a', zone, [{ ...db('b'), owners: [] }], 'default/db-b'],
    ['is broken by two pods of its zone, of which the first is named', 'a', zone, [db('b'), db('a')], 'default/db-a'],
    ['does not mean the pod itself', 'a', own, [], undefined],
    ['of its own label is broken by another pod of its owner', 'a', own, [db('b', { owner: 'web' })], 'default/db-b'],
    [
      'is kept by a pod that waits for a place',
      'a',
      zone,
      [replica({ name: 'p', owner: 'db', nominatedTo: 'a' })],
      undefined,
    ],
    ['by several values is broken by a pod with one of them', 'a', either, [db('b')], 'default/db-b'],
    ['by several labels is kept by a pod with one of them', 'a', both, [db('b')], undefined],
    ['in a named namespace is broken there', 'a', named, [db('b', shop)], 'shop/db-b'],
    ['is broken by a pod of a namespace that it selects', 'a', inShop, [db('b', shop)], 'shop/db-b'],
    ['does not mean namespaces without the label', 'a', inShop, [db('a', { namespace: 'other' })], undefined],
  ])('%s', (_, node, term, others, expected) => {
    const web = replica({ name: 'web', node, scheduling: { podAntiAffinity: [term] } });
    const namespaces = [{ name: 'shop', labels: mapOf({ team: 'a' }) }];
    const cluster = clusterWith({ nodes: NODES, pods: [web, ...others], namespaces });
    const running = runningIn(cluster, 'web');
    expect(reasonOf(antiAffinityCheck(cluster), running)?.facts['other']).toBe(expected);
  });
});

describe('a hard topology spread', () => {
  const spread = (changes: Partial<TopologySpreadConstraint> = {}) =>
    buildSpread('zone', { labelSelector: selectorOf({ app: 'web' }), ...changes });
  const onNodes = (nodes: string, change: Partial<ReplicaFields> = {}) =>
    Array.from(nodes, (node, n) => replica({ name: `${change.owner ?? 'more'}${n}`, node, ...change }));

  const waiting = (name: string) => replica({ name, nominatedTo: 'a' });

  /** The skew that pod `web` sees on its node, where it is too large. */
  function skew(
    node: string,
    constraint: TopologySpreadConstraint,
    others: readonly Pod[],
    nodes: readonly Node[] = NODES,
  ) {
    const web = replica({ name: 'web', node, scheduling: { topologySpread: [constraint] } });
    const cluster = clusterWith({ nodes, pods: [web, ...others] });
    const running = runningIn(cluster, 'web');
    const because = reasonOf(spreadCheck(cluster), running);
    return because && Number(/is (\d+),/.exec(because.text)?.[1]);
  }

  test.each<[string, string, TopologySpreadConstraint, readonly Pod[], number | undefined]>([
    ['is broken by two more in its zone than in another', 'a', spread(), onNodes('b'), 2],
    ['is kept by one more', 'a', spread(), onNodes('bc'), undefined],
    ['is kept in the zone with fewer', 'c', spread(), onNodes('aab'), undefined],
    ['is kept within its skew', 'a', spread({ maxSkew: 2 }), onNodes('b'), undefined],
    [
      'that is only preferred is never broken',
      'a',
      spread({ whenUnsatisfiable: 'ScheduleAnyway' }),
      onNodes('b'),
      undefined,
    ],
    ['does not count pods that terminate', 'a', spread(), onNodes('b', TERMINATING), undefined],
    ['does not count pods of other namespaces', 'a', spread(), onNodes('b', { namespace: 'shop' }), undefined],
    ['does not count pods outside of all zones', 'a', spread(), onNodes('dd'), undefined],
    ['does not count pods on nodes that are not known', 'a', spread(), onNodes('zz'), undefined],
    ['does not count pods that wait for a place', 'a', spread(), [waiting('p'), waiting('q')], undefined],
    ['without a selector counts nothing', 'a', spread({ labelSelector: undefined }), onNodes('bb'), undefined],
    ['with an empty selector counts nothing', 'a', spread({ labelSelector: selectorOf({}) }), onNodes('bb'), undefined],
    [
      'of labels that no pod has counts nothing',
      'a',
      spread({ labelSelector: selectorOf({ app: 'no' }) }),
      onNodes('bb'),
      undefined,
    ],
    [
      'of other pods counts those',
      'a',
      spread({ labelSelector: selectorOf({ app: 'db' }) }),
      onNodes('bbb', { owner: 'db' }),
      3,
    ],
    ['means no zone on a node without one', 'd', spread(), onNodes('aab'), undefined],
    [
      'by expression counts what that selects',
      'a',
      spread({
        labelSelector: { matchLabels: mapOf(), matchExpressions: [{ key: 'app', operator: 'Exists', values: [] }] },
      }),
      onNodes('bb', { owner: 'db' }),
      3,
    ],
  ])('%s', (_, node, constraint, others, expected) => {
    expect(skew(node, constraint, others)).toBe(expected);
  });

  test('a zone of closed nodes is no place to be more even with', () => {
    const nodes = NODES.map((node) => ({ ...node, isUnschedulable: node.name === 'c' }));
    expect(skew('a', spread(), onNodes('bb'), nodes)).toBeUndefined();
  });

  test('a node without the label is not in the zone of an empty value', () => {
    const nodes = NODES.map((node) => (node.name === 'a' ? { ...node, labels: mapOf({ zone: '' }) } : node));
    expect(skew('d', spread(), onNodes('aaa'), nodes)).toBeUndefined();
  });

  test('a zone that the node selector rules out is no place to be more even with', () => {
    const scheduling = { topologySpread: [spread()], nodeSelector: mapOf({ zone: 'x' }) };
    const cluster = clusterWith({
      nodes: NODES,
      pods: [replica({ name: 'web', node: 'a', scheduling }), ...onNodes('bb')],
    });
    expect(reasonOf(spreadCheck(cluster), runningIn(cluster, 'web'))).toBeUndefined();
  });

  test('a pod in a namespace without controllers breaks no spread', () => {
    const scheduling = { topologySpread: [spread({ labelSelector: selectorOf({}) })] };
    const pods = [{ ...replica({ name: 'web', node: 'a', scheduling }), owners: [] }];
    const cluster = clusterWith({ nodes: NODES, pods });
    const [node] = cluster.nodes;
    const [placed] = node?.entry.occupancy.pods ?? [];
    if (node === undefined || placed === undefined) throw new Error('no pod');
    expect(reasonOf(spreadCheck(cluster), { placed, node })).toBeUndefined();
  });
});

describe('required node affinity', () => {
  const inZone = (zone: string) => ({
    terms: [{ matchExpressions: [{ key: 'zone', operator: 'In', values: [zone] }], matchFields: [] }],
  });

  test.each([
    ['nothing is required', {}, undefined],
    ['the selector matches', { nodeSelector: mapOf({ zone: 'x' }) }, undefined],
    ['the selector does not match', { nodeSelector: mapOf({ zone: 'y' }) }, 'RequiredAffinityBroken'],
    ['the affinity matches', { nodeAffinity: inZone('x') }, undefined],
    ['the affinity does not match', { nodeAffinity: inZone('y') }, 'RequiredAffinityBroken'],
  ])('where %s', (_, scheduling, expected) => {
    const cluster = clusterWith({ nodes: NODES, pods: [replica({ name: 'web', node: 'a', scheduling })] });
    expect(reasonOf(nodeAffinityCheck(), runningIn(cluster, 'web'))?.code).toBe(expected);
  });
});

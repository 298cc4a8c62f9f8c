import { describe, expect, test } from 'vitest';
import type { Pod, SchedulingRules, TopologySpreadConstraint } from '#shared/domain/pod/pod.ts';
import { spreadScores } from '#shared/domain/rescheduling/spread-scores.ts';
import type { Node } from '#shared/domain/snapshot/node-entry.ts';
import { buildNode, buildSpread, mapOf, selectorOf } from '#test/build/cluster.ts';
import { clusterWith, nodeIn, NOON, replica, type ReplicaFields, runningIn } from '#test/build/rescheduling.ts';

/*
 * Worked out by hand from kube-scheduler's rules, `pkg/scheduler/framework/plugins/podtopologyspread/scoring.go`: each
 * constraint adds pods × ln(domains + 2) + maxSkew - 1, and the sum is rounded; -1 stands for a node that it ignores.
 */

const ZONE = 'topology.kubernetes.io/zone';
const TAINT = { key: 'slow', value: '', effect: 'NoExecute' };
const NODES = [
  buildNode({ name: 'a', labels: { [ZONE]: 'x', rack: '1', pool: 'p' } }),
  buildNode({ name: 'b', labels: { [ZONE]: 'x', pool: 'q' }, taints: [TAINT] }),
  buildNode({ name: 'c', labels: { [ZONE]: 'y', rack: '2', pool: 'p' } }),
  buildNode({ name: 'd', labels: { rack: '3' } }),
];

function soft(key: string, changes: Partial<TopologySpreadConstraint> = {}): TopologySpreadConstraint {
  return buildSpread(key, {
    whenUnsatisfiable: 'ScheduleAnyway',
    labelSelector: selectorOf({ app: 'web' }),
    ...changes,
  });
}

function web(index: number, node: string, change: Partial<ReplicaFields> = {}): Pod {
  return replica({ name: `web${index}`, node, ...change });
}

interface Asked {
  readonly rules?: Partial<SchedulingRules>;
  readonly others?: readonly Pod[];
  readonly ownerKind?: string;
  readonly feasible?: readonly string[];
  readonly nodes?: readonly Node[];
}

/** What the nodes get for the replacement of `web0`, which runs on node a. */
function scores({ rules = {}, others = [], ownerKind = 'ReplicaSet', feasible, nodes = NODES }: Asked) {
  const cluster = clusterWith({ nodes, pods: [web(0, 'a', { scheduling: rules, ownerKind }), ...others] });
  const among = cluster.nodes.filter(({ name }) => feasible?.includes(name) !== false);
  const found = spreadScores(cluster, runningIn(cluster, 'web0'), among, []);
  return found && [...found];
}

const OTHERS = [web(1, 'a'), web(2, 'b'), web(3, 'c')];
const TERMINATING = { deletion: { at: NOON, gracePeriodSeconds: 30 } };

describe('the raw score of PodTopologySpread', () => {
  test.each<[string, readonly TopologySpreadConstraint[], readonly Pod[], readonly number[] | undefined]>([
    ['is absent where a constraint only filters', [buildSpread(ZONE)], OTHERS, undefined],
    ['counts the pods of a domain, without the pod that moves', [soft(ZONE)], OTHERS, [3, 3, 1, -1]],
    ['does not count pods that terminate', [soft(ZONE)], [web(1, 'a', TERMINATING), web(3, 'c')], [0, 0, 1, -1]],
    ['does not count pods that are not selected', [soft(ZONE)], [web(1, 'a', { labels: {} })], [0, 0, 0, -1]],
    ['does not count pods of other namespaces', [soft(ZONE)], [web(1, 'a', { namespace: 'shop' })], [0, 0, 0, -1]],
    ['counts none without a selector', [soft(ZONE, { labelSelector: undefined })], OTHERS, [0, 0, 0, -1]],
    ['counts none with an empty selector', [soft(ZONE, { labelSelector: selectorOf({}) })], OTHERS, [0, 0, 0, -1]],
    ['adds the skew that is tolerated', [soft(ZONE, { maxSkew: 3 })], OTHERS, [5, 5, 3, -1]],
    ['counts a node alone by host name', [soft('kubernetes.io/hostname')], OTHERS, [2, 2, 2, 0]],
    ['leaves out nodes that lack a label of any constraint', [soft(ZONE), soft('rack')], OTHERS, [3, -1, 3, -1]],
  ])('%s', (_, topologySpread, others, expected) => {
    expect(scores({ rules: { topologySpread }, others })).toEqual(expected);
  });

  test.each<[string, Partial<SchedulingRules>, Partial<TopologySpreadConstraint>, readonly number[]]>([
    ['leaves out nodes that the node selector rules out', { nodeSelector: mapOf({ pool: 'p' }) }, {}, [1, 0, 1, 0]],
    [
      'counts them where the constraint ignores affinity',
      { nodeSelector: mapOf({ pool: 'p' }) },
      { nodeAffinityPolicy: 'Ignore' },
      [3, 0, 1, 0],
    ],
    ['leaves out tainted nodes where the constraint honors taints', {}, { nodeTaintsPolicy: 'Honor' }, [1, 0, 1, 0]],
    [
      'counts a tainted node that the pod tolerates',
      { tolerations: [{ key: 'slow', operator: 'Exists', value: '', effect: '' }] },
      { nodeTaintsPolicy: 'Honor' },
      [3, 0, 1, 0],
    ],
  ])('%s', (_, rules, changes, expected) => {
    const topologySpread = [soft(ZONE, changes)];
    expect(scores({ rules: { ...rules, topologySpread }, others: OTHERS, feasible: ['a', 'c'] })).toEqual(expected);
  });

  test('without constraints the pods of a controller are spread over hosts with skew 3 and zones with skew 5', () => {
    // Hosts: 2 + pods × ln 6. Zones: 4 + pods × ln 5, for x, y and none, and a node without a zone gets nothing for it.
    expect(scores({ others: [web(1, 'a'), web(3, 'c')] })).toEqual([9, 8, 9, 2]);
  });

  test('without constraints nodes that the node selector rules out are not counted either', () => {
    const rules = { nodeSelector: mapOf({ pool: 'p' }) };
    expect(scores({ rules, others: [web(1, 'b'), web(3, 'c')], feasible: ['a', 'c'] })).toEqual([6, 0, 9, 0]);
  });

  test('without constraints the pods of a controller that it does not know are not spread', () => {
    expect(scores({ ownerKind: 'CloneSet', others: OTHERS })).toBeUndefined();
  });

  test('nodes that are all ignored are all alike', () => {
    expect(scores({ rules: { topologySpread: [soft('row')] }, others: OTHERS })).toEqual([-1, -1, -1, -1]);
  });

  test.each<[string, readonly TopologySpreadConstraint[], readonly number[]]>([
    ['with a constraint', [soft(ZONE)], [1, 1, 3, -1]],
    ['by default', [], [6, 6, 13, 2]],
  ])('a pod that the pass moves counts where it goes %s', (_, topologySpread, expected) => {
    const pods = [web(0, 'a', { scheduling: { topologySpread } }), web(1, 'a'), web(3, 'c')];
    const others = topologySpread.length === 0 ? [] : [web(2, 'b')];
    const cluster = clusterWith({ nodes: NODES, pods: [...pods, ...others] });
    const arriving = [{ placed: runningIn(cluster, 'web1').placed, target: nodeIn(cluster, 'c') }];
    expect([...(spreadScores(cluster, runningIn(cluster, 'web0'), cluster.nodes, arriving) ?? [])]).toEqual(expected);
  });

  test('a pod of another namespace that the pass moves does not count', () => {
    const scheduling = { topologySpread: [soft(ZONE)] };
    const pods = [web(0, 'a', { scheduling }), web(1, 'a', { namespace: 'shop' }), web(2, 'a', { namespace: 'shop' })];
    const cluster = clusterWith({ nodes: NODES, pods });
    const arriving = [{ placed: runningIn(cluster, 'web1').placed, target: nodeIn(cluster, 'c') }];
    expect([...(spreadScores(cluster, runningIn(cluster, 'web0'), cluster.nodes, arriving) ?? [])]).toEqual([
      0, 0, 0, -1,
    ]);
  });
});

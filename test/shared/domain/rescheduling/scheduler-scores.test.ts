import { describe, expect, test } from 'vitest';
import {
  type NormalizedPlugins,
  normalizedScore,
  rawScores,
  rawSpread,
  resourceScore,
} from '#shared/domain/rescheduling/scheduler-scores.ts';
import { buildNode } from '#test/build/cluster.ts';
import { clusterWith, replica } from '#test/build/rescheduling.ts';

/* Worked out by hand from kube-scheduler's plugins with the weights of its default profile: taints 3, affinity 2, spread 2. */

const NODES = clusterWith({ nodes: ['a', 'b', 'c'].map((name) => buildNode({ name })) }).nodes;
const SILENT: NormalizedPlugins = {
  taints: undefined,
  nodeAffinity: undefined,
  spread: undefined,
  interPod: undefined,
};

describe('the plugins that compare nodes', () => {
  test.each<[string, keyof NormalizedPlugins, readonly number[], readonly number[]]>([
    ['fewest taints are best', 'taints', [0, 1, 2], [300, 150, 0]],
    ['no taint at all is best everywhere', 'taints', [0, 0, 0], [300, 300, 300]],
    ['most preferred weight is best', 'nodeAffinity', [20, 80, 0], [350, 500, 300]],
    ['a share of a preferred weight is rounded down', 'nodeAffinity', [1, 2, 3], [366, 432, 500]],
    ['weights that match nowhere add nothing', 'nodeAffinity', [0, 0, 0], [300, 300, 300]],
    ['the lowest spread is best', 'spread', [3, 5, 1], [420, 340, 500]],
    ['an even spread is best everywhere', 'spread', [0, 0, 0], [500, 500, 500]],
    ['a node that the spread ignores is no minimum', 'spread', [-1, 3, 5], [300, 500, 420]],
    ['nodes that the spread ignores get nothing', 'spread', [-1, -1, -1], [300, 300, 300]],
    ['affinity to pods goes from the least to the most', 'interPod', [-10, 0, 30], [300, 350, 500]],
    ['affinity to pods divides before it multiplies', 'interPod', [0, 29, 100], [300, 356, 500]],
    ['affinity to pods that is the same everywhere adds nothing', 'interPod', [7, 7, 7], [300, 300, 300]],
  ])('%s', (_, plugin, values, expected) => {
    const extremesOf = plugin === 'spread' ? rawSpread : rawScores;
    const plugins = { ...SILENT, [plugin]: extremesOf(Float64Array.from(values), NODES) };
    expect(NODES.map(({ index }) => normalizedScore(plugins, index))).toEqual(expected);
  });

  test('plugins that have nothing to say leave the full score for taints', () => {
    expect(normalizedScore(SILENT, 0)).toBe(300);
  });

  test('only feasible nodes are compared', () => {
    const plugins = { ...SILENT, nodeAffinity: rawScores(Float64Array.of(20, 40, 80), NODES.slice(0, 2)) };
    expect([0, 1].map((index) => normalizedScore(plugins, index))).toEqual([400, 500]);
  });
});

interface Taken {
  readonly cpu?: string;
  readonly memory?: string;
}

describe('LeastAllocated and BalancedAllocation', () => {
  /*
   * LeastAllocated is the mean of the free shares with the pod. BalancedAllocation is 50 plus half of 50 and of what
   * 100 - half the difference of the shares rises by, or nothing for a pod without requests.
   */
  test.each<[string, Taken, Taken, readonly [cpu: number, memory: number], number]>([
    ['a pod that keeps the balance', {}, { cpu: '1', memory: '1000' }, [500, 500], 50 + 75],
    ['a pod that mends the balance', { cpu: '500m' }, { cpu: '1', memory: '1000' }, [0, 500], 50 + 87],
    ['a pod that breaks the balance', {}, { cpu: '1', memory: '1000' }, [1000, 0], 50 + 50],
    ['a pod of cpu alone', {}, { cpu: '1', memory: '1000' }, [500, 0], 75 + 62],
    ['a pod without requests', { cpu: '500m' }, { cpu: '1', memory: '1000' }, [0, 0], 75],
    ['a resource that the node does not have', {}, { cpu: '1' }, [500, 0], 50 + 75],
    ['a node that has neither', {}, {}, [500, 500], 0 + 75],
    ['more than the node has', { cpu: '800m' }, { cpu: '1', memory: '1000' }, [500, 0], 50 + 70],
  ])('%s', (_, taken, allocatable, [cpu, memory], expected) => {
    const pods = Object.keys(taken).length === 0 ? [] : [replica({ name: 'p', node: 'a', requests: { ...taken } })];
    const [node] = clusterWith({ nodes: [buildNode({ name: 'a', allocatable: { ...allocatable } })], pods }).nodes;
    if (node === undefined) throw new Error('no node');
    const held = { row: node.held.row, scored: node.held.row.slice(0, 2) };
    expect(resourceScore(node, held, { row: [cpu, memory], scored: [cpu, memory] })).toBe(expected);
  });

  test('a row ends with the last resource that a pod requests', () => {
    const [node] = clusterWith({ nodes: [buildNode({ name: 'a', allocatable: { cpu: '1', memory: '1000' } })] }).nodes;
    if (node === undefined) throw new Error('no node');
    expect(resourceScore(node, node.held, { row: [], scored: [100, 200] })).toBe(85);
    expect(resourceScore(node, node.held, { row: [500], scored: [500, 0] })).toBe(75 + 62);
  });
});

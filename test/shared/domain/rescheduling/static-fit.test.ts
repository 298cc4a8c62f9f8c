import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, Toleration } from '#shared/domain/pod/pod.ts';
import { createStaticFits, preferenceFor } from '#shared/domain/rescheduling/static-fit.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { clusterWith } from '#test/build/rescheduling.ts';

/* Worked out by hand from kube-scheduler's rules, `plugins/tainttoleration` and `plugins/nodeaffinity`. */

const SPOT = { key: 'spot', value: 'yes', effect: 'PreferNoSchedule' };
const SLOW = { key: 'slow', value: '', effect: 'PreferNoSchedule' };
const GPU = { key: 'gpu', value: '', effect: 'NoSchedule' };
const TAINTED = [
  buildNode({ name: 'a', taints: [SPOT, SLOW] }),
  buildNode({ name: 'b', taints: [SPOT, GPU] }),
  buildNode({ name: 'c' }),
];

function fitOf(nodes: typeof TAINTED, tolerations: readonly Toleration[] = []) {
  const fit = createStaticFits(clusterWith({ nodes }).nodes)(buildPod({ name: 'p', scheduling: { tolerations } }));
  return { fits: [...fit.fits], untolerated: fit.untolerated && [...fit.untolerated] };
}

function tolerated(key: string, effect: string): Toleration {
  return { key, operator: 'Exists', value: '', effect };
}

describe('taints that only prefer no pod', () => {
  test.each<[string, readonly Toleration[], readonly number[]]>([
    ['each counts once', [], [2, 1, 0]],
    ['a toleration of every effect covers one', [tolerated('spot', '')], [1, 0, 0]],
    ['a toleration of this effect covers one', [tolerated('slow', 'PreferNoSchedule')], [1, 1, 0]],
    ['a toleration of another effect covers none', [tolerated('spot', 'NoSchedule')], [2, 1, 0]],
    ['a toleration of every key covers all', [tolerated('', '')], [0, 0, 0]],
  ])('%s', (_, tolerations, expected) => {
    expect(fitOf(TAINTED, tolerations).untolerated).toEqual(expected);
  });

  test('they keep no pod away, unlike the other effects', () => {
    expect(fitOf(TAINTED).fits).toEqual([1, 0, 1]);
  });

  test('without one on any node there is nothing to count', () => {
    expect(fitOf([buildNode({ name: 'b', taints: [GPU] })]).untolerated).toBeUndefined();
  });
});

const HOSTNAME = 'kubernetes.io/hostname';

function term(key: string, operator: string, field = false): NodeSelectorTerm {
  const requirement = { key, operator, values: ['other'] };
  return { matchExpressions: field ? [] : [requirement], matchFields: field ? [requirement] : [] };
}

describe('preferred node affinity', () => {
  test.each<[string, NodeSelectorTerm, number]>([
    ['of a label adds its weight', term('pool', 'In'), 10],
    ['away from a label adds its weight', term('rack', 'NotIn'), 10],
    [
      'to a host adds its weight',
      { matchExpressions: [], matchFields: [{ key: 'metadata.name', operator: 'In', values: ['a'] }] },
      10,
    ],
    ['of a label that the node does not have adds nothing', term('rack', 'In'), 0],
    ['away from a node by name is what an avoid entry added', term('metadata.name', 'NotIn', true), 0],
    ['away from a host is what an avoid entry added', term(HOSTNAME, 'NotIn'), 0],
    ['without requirements matches no node', { matchExpressions: [], matchFields: [] }, 0],
  ])('%s', (_, each, expected) => {
    const node = buildNode({ name: 'a', labels: { pool: 'other' } });
    const pod = buildPod({ name: 'p', scheduling: { preferredNodeTerms: [{ weight: 10, term: each }] } });
    expect(preferenceFor(node, pod.spec.scheduling)).toBe(expected);
  });
});

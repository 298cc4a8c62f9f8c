import { describe, expect, test } from 'vitest';
import { finish } from '#shared/domain/base/steps.ts';
import type { Pod, PodAffinityTerm, SchedulingRules, WeightedPodTerm } from '#shared/domain/pod/pod.ts';
import { findSocialPods, interPodScores } from '#shared/domain/rescheduling/inter-pod-scores.ts';
import { buildNode, buildPod, buildTerm, mapOf, selectorOf } from '#test/build/cluster.ts';
import { clusterWith, replica } from '#test/build/rescheduling.ts';

/* Worked out by hand from kube-scheduler's rules, `pkg/scheduler/framework/plugins/interpodaffinity/scoring.go`. */

const NODES = [
  buildNode({ name: 'a', labels: { zone: 'x' } }),
  buildNode({ name: 'b', labels: { zone: 'x' } }),
  buildNode({ name: 'c', labels: { zone: 'y' } }),
  buildNode({ name: 'd' }),
];
const SHOP = { name: 'shop', labels: mapOf({ team: 'a' }) };

function weighted(weight: number, term: PodAffinityTerm = buildTerm({ app: 'db' }, 'zone')): WeightedPodTerm {
  return { ...term, weight };
}

function db(node: string, scheduling: Partial<SchedulingRules> = {}, namespace = 'default'): Pod {
  return replica({ name: `db-${node}-${namespace}`, node, owner: 'db', scheduling, namespace });
}

/** What nodes a to d get for an incoming pod `app: web` with these preferred terms. */
function scores(preferredPodTerms: readonly WeightedPodTerm[], pods: readonly Pod[], nodes = NODES) {
  const cluster = clusterWith({ nodes, pods, namespaces: [SHOP] });
  const incoming = buildPod({ name: 'new', labels: { app: 'web' }, scheduling: { preferredPodTerms } });
  const found = finish(interPodScores(cluster, finish(findSocialPods(cluster)), incoming));
  return found && [...found];
}

const ABOUT_WEB = buildTerm({ app: 'web' }, 'zone');

describe('the raw score of InterPodAffinity', () => {
  test.each<[string, readonly WeightedPodTerm[], readonly Pod[], readonly number[] | undefined]>([
    ['is absent where no pod has a term', [], [db('a')], undefined],
    ['is absent where no running pod is selected', [weighted(30, ABOUT_WEB)], [db('a')], undefined],
    ['is absent where the selected pod is in no domain', [weighted(30)], [db('d')], undefined],
    ['adds the weight for each pod of a domain', [weighted(30)], [db('a'), db('b'), db('c')], [60, 60, 30, 0]],
    ['takes the weight away for a term that keeps apart', [weighted(-30)], [db('a')], [-30, -30, 0, 0]],
    [
      'adds up the terms of the pod',
      [weighted(5), weighted(10, buildTerm({ app: 'db' }))],
      [db('a'), db('c')],
      [15, 5, 15, 0],
    ],
    ['is 0 where terms cancel each other out', [weighted(10), weighted(-10)], [db('a')], [0, 0, 0, 0]],
    ['leaves out pods of other namespaces', [weighted(30)], [db('a', {}, 'shop')], undefined],
    [
      'counts pods of a namespace that the term selects by label',
      [weighted(30, { ...buildTerm({ app: 'db' }, 'zone'), namespaceSelector: selectorOf({ team: 'a' }) })],
      [db('a', {}, 'shop'), db('c', {}, 'unlabelled')],
      [30, 30, 0, 0],
    ],
    ['counts the required affinity of a running pod as 1', [], [db('a', { podAffinity: [ABOUT_WEB] })], [1, 1, 0, 0]],
    [
      'counts the preferences of running pods about the pod',
      [],
      [
        db('a', { preferredPodTerms: [weighted(-7, ABOUT_WEB)] }),
        db('c', { preferredPodTerms: [weighted(9, ABOUT_WEB)] }),
      ],
      [-7, -7, 9, 0],
    ],
    [
      'leaves out the preferences of running pods about others',
      [],
      [db('a', { preferredPodTerms: [weighted(9)] })],
      undefined,
    ],
    [
      'leaves the required anti-affinity of running pods to the filter',
      [],
      [db('a', { podAntiAffinity: [ABOUT_WEB] })],
      undefined,
    ],
  ])('%s', (_, terms, pods, expected) => {
    expect(scores(terms, pods)).toEqual(expected);
  });

  test('a node without the label is not in the domain of an empty value', () => {
    const nodes = [buildNode({ name: 'a', labels: { zone: '' } }), buildNode({ name: 'd' })];
    expect(scores([weighted(30)], [db('a')], nodes)).toEqual([30, 0]);
  });
});

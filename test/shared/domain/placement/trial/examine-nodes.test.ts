import { describe, expect, test } from 'vitest';
import { examineNodes } from '#shared/domain/placement/trial/examine-nodes.ts';
import { prefilter } from '#shared/domain/placement/trial/prefilter-state.ts';
import type { NodeSelectorTerm } from '#shared/domain/pod/pod.ts';
import { buildPod, type PodFields } from '#test/build/cluster.ts';
import { SMALL, NODES, snapshotOf, plan, type Situation } from '#test/shared/domain/placement/plan/plan-situation.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('why it fits nowhere', () => {
  const named = (...values: string[]): NodeSelectorTerm => ({
    matchExpressions: [],
    matchFields: [{ key: 'metadata.name', operator: 'In', values }],
  });
  const nodes = [...NODES, { name: 'n1', isUnschedulable: true }, { name: 'n2', allocatable: { cpu: '1' } }];
  const full = [one('p'), one('q')];

  test.each<[string, Partial<PodFields>, Situation, string]>([
    [
      'each reason with its nodes',
      {},
      { nodes, pods: full },
      '0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.',
    ],
    ['no nodes at all', {}, { nodes: [] }, 'no nodes available to schedule pods'],
    [
      'nodes ruled out by name',
      { scheduling: { nodeAffinity: { terms: [named('n0')] } } },
      { nodes, pods: full },
      "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity].",
    ],
    [
      'nodes ruled out after the nominated one was refused',
      { nominatedTo: 'n1', scheduling: { nodeAffinity: { terms: [named('n0')] } } },
      { nodes, pods: full },
      "0/3 nodes are available: 1 Insufficient cpu, 1 node(s) didn't satisfy plugin(s) [NodeAffinity NodeUnschedulable], 1 node(s) were unschedulable.",
    ],
    [
      'names that contradict each other',
      {
        scheduling: {
          nodeAffinity: {
            terms: [{ ...named('n0'), matchFields: [...named('n0').matchFields, ...named('n2').matchFields] }],
          },
        },
      },
      { nodes, pods: full },
      '0/3 nodes are available: pod affinity terms conflict.',
    ],
    [
      'a term without names rules nothing out',
      {
        scheduling: {
          nodeAffinity: {
            terms: [
              named('n0'),
              { matchExpressions: [{ key: 'disk', operator: 'Exists', values: [] }], matchFields: [] },
            ],
          },
        },
      },
      { nodes: NODES, pods: full },
      '0/1 nodes are available: 1 Insufficient cpu.',
    ],
  ])('%s', (_, pod, situation, text) => {
    const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '2' }, ...pod });
    expect(examineNodes(prefilter(snapshotOf(situation), incoming))).toMatchObject({ text });
  });

  test('a nominated node that fits is taken before others are looked at', () => {
    const found = plan({ nominatedTo: 'n3' }, { nodes: [...NODES, { name: 'n3', allocatable: SMALL }] });
    expect(found).toMatchObject({ kind: 'fits', nodes: ['n3'] });
  });

  test('there is no text where it fits', () => {
    const examination = examineNodes(prefilter(snapshotOf({}), buildPod({ name: 'incoming' })));
    expect(examination.kind).toBe('fits');
    expect(examination).not.toHaveProperty('text');
  });
});

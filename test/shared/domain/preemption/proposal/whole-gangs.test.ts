import { describe, expect, test } from 'vitest';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { runningGangsIn } from '#shared/kube/annotations/running-gangs.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { RULES } from './review-case.ts';

const gang = (name: string, size: number) => ({
  labels: { 'plimsoll.dev/gang': name, 'plimsoll.dev/gang-size': `${size}` },
});

/** A pod that takes half of its node, or all of it. */
const onNode = (node: string, name: string, change: Partial<PodFields> = {}): PodFields => ({
  name,
  node,
  phase: 'Running',
  requests: { cpu: '1' },
  ...change,
});

/** What is left of a proposal of one victim a node, with and without gangs. */
function reviewed(pods: readonly PodFields[], proposed: Readonly<Record<string, readonly string[]>>, withGangs = true) {
  const nodes = Object.keys(proposed).map((name) => buildNode({ name, allocatable: { cpu: '2', memory: '4Gi' } }));
  const snapshot = createSnapshot({ nodes: [...nodes, buildNode({ name: 'other' })], pods: pods.map(buildPod) });
  const proposal = Object.entries(proposed).map(([node, names]) => ({
    node,
    uids: names.map((name) => `uid-${name}`),
    budgetViolations: 0,
  }));
  const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
  const gangs = runningGangsIn(snapshot);
  const verdicts = reviewProposal(snapshot, { pod, proposal, now: 0 }, { ...RULES, ...(withGangs && { gangs }) });
  return verdicts.map((verdict) =>
    verdict.kind === 'removed'
      ? `${verdict.node} ${verdict.because.code}`
      : `${verdict.victims.node} ${verdict.victims.uids.map((uid) => uid.replace('uid-', '')).join(' ')}`,
  );
}

const train = gang('train', 3);
const PAIRS = [
  onNode('n0', 'a', train),
  onNode('n0', 'x', { priority: 10 }),
  onNode('n1', 'b'),
  onNode('n1', 'y', { priority: 10 }),
];
const REST = [onNode('other', 'c', train), onNode('other', 'd', train)];

describe('preemption counts a gang as one victim', () => {
  test('a node whose victim costs a gang is left where another costs less', () => {
    expect(reviewed([...PAIRS, ...REST], { n0: ['a'], n1: ['b'] })).toEqual(['n0 CostsGang', 'n1 b']);
    expect(reviewed([...PAIRS, ...REST], { n0: ['a'], n1: ['b'] }, false)).toEqual(['n0 a', 'n1 b']);
  });

  test('a gang that can spare the pod costs no more than any other', () => {
    const spare = { labels: { ...train.labels, 'plimsoll.dev/gang-min': '2' } };
    const pods = [...PAIRS.slice(1), ...[onNode('n0', 'a'), ...REST].map((pod) => ({ ...pod, ...spare }))];
    expect(reviewed(pods, { n0: ['a'], n1: ['b'] })).toEqual(['n0 a', 'n1 b']);
  });

  test('the cheapest of nodes that all cost a gang stays, and with one node the pod finds room all the same', () => {
    const pods = [
      ...PAIRS.slice(0, 2),
      ...REST,
      onNode('n1', 'b', gang('pair', 2)),
      onNode('other', 'e', gang('pair', 2)),
    ];
    expect(reviewed(pods, { n0: ['a'], n1: ['b'] })).toEqual(['n0 CostsGang', 'n1 b']);
    expect(reviewed([...PAIRS.slice(0, 2), ...REST], { n0: ['a'] })).toEqual(['n0 a']);
  });

  test('a lower priority goes before a gang counts: more pods of it cost less than one of a higher', () => {
    const pods = [
      ...PAIRS.slice(0, 2),
      ...REST,
      onNode('n1', 'b', { priority: 5 }),
      onNode('n1', 'y', { priority: 10 }),
    ];
    expect(reviewed(pods, { n0: ['a'], n1: ['b'] })).toEqual(['n0 a', 'n1 b']);
    const above = [...PAIRS, onNode('other', 'c', { ...train, priority: 8 }), onNode('other', 'd', train)];
    expect(reviewed(above, { n0: ['a'], n1: ['b'] })).toEqual(['n0 CostsGang', 'n1 b']);
  });

  test('of equal pods on one node the one goes that costs no gang', () => {
    const pods = [onNode('n0', 'a', train), onNode('n0', 'b'), ...REST];
    expect(reviewed(pods, { n0: ['a'] })).toEqual(['n0 b']);
    expect(reviewed(pods, { n0: ['a'] }, false)).toEqual(['n0 a']);
    const lower = [onNode('n0', 'a', train), onNode('n0', 'b', { priority: 1 }), ...REST];
    expect(reviewed(lower, { n0: ['a'] })).toEqual(['n0 a']);
  });

  test('a gang below its minimum protects nothing', () => {
    expect(reviewed([...PAIRS, REST[0] as PodFields], { n0: ['a'], n1: ['b'] })).toEqual(['n0 a', 'n1 b']);
  });
});

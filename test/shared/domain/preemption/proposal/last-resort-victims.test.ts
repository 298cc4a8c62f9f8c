import { describe, expect, test } from 'vitest';
import type { NodeSelectorTerm, Pod } from '#shared/domain/pod/pod.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';
import { DAEMON_SETS, daemonSetPod } from '#test/build/daemon-set-pod.ts';

/** By the pod's label `stays`. */
const RULES: ProposalRules = {
  protection: ({ labels }) => {
    const code = labels.get('stays');
    return code === undefined ? undefined : { code, text: 'stays', facts: {} };
  },
  budgets: 'BestEffort',
  usageAware: false,
  tieBreak: 'none',
};
const OPTED_OUT = 'ProtectedOptOut';
const HARD = 'ProtectedNamespace';

/** On a node for two such pods. */
function on(name: string, stays?: string, priority = 0): Pod {
  const labels = stays === undefined ? {} : { labels: { stays } };
  return buildPod({ name, node: 'n0', priority, requests: { cpu: '1' }, ...labels });
}

const incoming = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });

/** What becomes of the proposal to preempt `victim`. */
function review(preemptor: Pod, pods: readonly Pod[], victim: string, daemonSets = DAEMON_SETS): string {
  const nodes = [buildNode({ name: 'n0', allocatable: { cpu: '2' } })];
  const proposal = [{ node: 'n0', uids: [`uid-${victim}`], budgetViolations: 0 }];
  const snapshot = { ...createSnapshot({ nodes, pods }), daemonSets };
  const [verdict] = reviewProposal(snapshot, { pod: preemptor, proposal, now: 0 }, RULES);
  if (verdict === undefined || verdict.kind === 'removed') return verdict?.because.code ?? '';
  return `${verdict.kind} ${verdict.victims.uids.join(' ')}`;
}

const NAME = { key: 'metadata.name', operator: 'In', values: ['n0'] };

function named(node: string): NodeSelectorTerm {
  return { matchExpressions: [], matchFields: [{ ...NAME, values: [node] }] };
}

/** As a DaemonSet's, but with another affinity. */
function withAffinity(terms: readonly NodeSelectorTerm[]): Pod {
  const pod = daemonSetPod(incoming);
  return { ...pod, spec: { ...pod.spec, scheduling: { ...pod.spec.scheduling, nodeAffinity: { terms } } } };
}

describe('a pod of a DaemonSet (S2-29)', () => {
  const p = on('p', OPTED_OUT);
  const q = on('q', OPTED_OUT);

  test.each<[string, readonly Pod[], string, string]>([
    ['takes a pod that opted out where all pods did', [p, q], 'q', 'kept uid-q'],
    ['takes one where the others belong to DaemonSets', [daemonSetPod(on('p', undefined, 10)), q], 'q', 'kept uid-q'],
    [
      'takes a pod of another DaemonSet rather than one that opted out',
      [daemonSetPod(on('p', undefined, 5)), q],
      'q',
      'changed uid-p',
    ],
    ['takes none where the node holds another pod, although it cannot go', [on('p', undefined, 10), q], 'q', OPTED_OUT],
    ['takes none that is protected otherwise', [daemonSetPod(on('p', HARD, 5)), q], 'p', 'changed uid-q'],
    ['takes none where only such a pod would do', [daemonSetPod(on('p', HARD)), on('q', OPTED_OUT, 10)], 'p', HARD],
  ])('%s', (_, pods, victim, expected) => {
    expect(review(daemonSetPod(incoming), pods, victim)).toBe(expected);
  });

  test.each<[string, ReadonlyMap<string, string>]>([
    ['of which there is none', new Map()],
    ['of that name with another UID', new Map([['default/d', 'another']])],
    ['of another namespace', new Map([['other/d', 'd']])],
  ])('counts as any other pod if it names a DaemonSet %s', (_, daemonSets) => {
    expect(review(daemonSetPod(incoming), [p, q], 'q', new Map(daemonSets))).toBe(OPTED_OUT);
  });

  test.each<[string, Pod]>([
    ['no node', withAffinity([])],
    ['nodes by a label', withAffinity([{ matchExpressions: [{ ...NAME, key: 'disk' }], matchFields: [] }])],
    ['one of two nodes', withAffinity([named('n0'), named('n1')])],
    ['all nodes but one', withAffinity([{ matchExpressions: [], matchFields: [{ ...NAME, operator: 'NotIn' }] }])],
  ])('counts as any other pod if it is tied to %s', (_, preemptor) => {
    expect(review(preemptor, [p, q], 'q')).toBe(OPTED_OUT);
  });

  test('counts as any other pod of a node if it is tied to another one', () => {
    const elsewhere = { ...withAffinity([named('n1')]), uid: 'uid-p', name: 'p' };
    const here = { ...elsewhere, spec: { ...elsewhere.spec, nodeName: 'n0', priority: 10 } };
    expect(review(daemonSetPod(incoming), [here, q], 'q')).toBe(OPTED_OUT);
  });

  test('is the only kind of pod that takes one that opted out', () => {
    expect(review(incoming, [p, q], 'q')).toBe(OPTED_OUT);
  });
});

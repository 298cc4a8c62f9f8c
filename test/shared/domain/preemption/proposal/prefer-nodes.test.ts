import { describe, expect, test } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import type { NodePressureFacts } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';
import { buildPressure } from '#test/build/node-pressure.ts';
import { RULES } from './review-case.ts';
import { one } from '#test/shared/domain/preemption/one-pod.ts';

describe('reviewProposal, on equal nodes', () => {
  /** A proposal of two nodes with one victim each. */
  function reviewTwo(second: Partial<PodFields>, pressures: readonly NodePressureFacts[], usageAware = true) {
    const nodes = ['n0', 'n1'].map((name) => buildNode({ name, allocatable: { cpu: '1' } }));
    const pods = [one('p', { node: 'n0', startedAt: 9 }), one('q', { node: 'n1', startedAt: 1, ...second })];
    const snapshot = createSnapshot({ nodes, pods: pods.map(buildPod) });
    for (const facts of pressures) snapshot.pressures.set(facts.node, facts);
    const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
    const proposal = pods.map(({ name, node = '' }) => ({ node, uids: [`uid-${name}`], budgetViolations: 0 }));
    const verdicts = reviewProposal(snapshot, { pod, proposal, now: 0 }, { ...RULES, usageAware });
    return verdicts.map((verdict) => (verdict.kind === 'removed' ? verdict.because.code : verdict.kind));
  }
  const under = (node: string) => buildPressure(node, { observedAt: 0, pressure: 'Soft' });

  test('prefers the node that runs out of a resource', () => {
    expect(reviewTwo({}, [under('n1')])).toEqual(['PreferredElsewhere', 'kept']);
    expect(reviewTwo({}, [under('n0')])).toEqual(['kept', 'PreferredElsewhere']);
  });

  test('then the one whose victims use more than they request', () => {
    const pressures = [buildPressure('n1', { observedAt: 0, overRequest: new Set(['uid-q']) })];
    expect(reviewTwo({}, pressures)).toEqual(['PreferredElsewhere', 'kept']);
    expect(reviewTwo({}, [...pressures, under('n0')])).toEqual(['kept', 'PreferredElsewhere']);
  });

  test('leaves nodes that kube-scheduler does not hold equal', () => {
    expect(reviewTwo({ priority: 5 }, [under('n1')])).toEqual(['kept', 'kept']);
    expect(reviewTwo({ priority: 5 }, [under('n0')])).toEqual(['kept', 'kept']);
  });

  test('leaves all where they are equal in that, too, or usage does not count', () => {
    expect(reviewTwo({}, [])).toEqual(['kept', 'kept']);
    expect(reviewTwo({}, [under('n0'), under('n1')])).toEqual(['kept', 'kept']);
    expect(reviewTwo({}, [under('n1')], false)).toEqual(['kept', 'kept']);
  });
});

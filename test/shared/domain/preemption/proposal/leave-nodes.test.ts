import { describe, expect, test } from 'vitest';
import { reviewProposal } from '#shared/domain/preemption/proposal/review-proposal.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod } from '#test/build/cluster.ts';

const RULES = { protection: () => undefined, budgets: 'BestEffort', usageAware: false, tieBreak: 'none' } as const;

describe('a node that the preemptor should leave to others', () => {
  const because = { code: 'PreemptionLoop', text: 'a and b displace each other', facts: {} };

  function nodesLeft(toLeave: readonly string[], withoutVictims: readonly string[] = []): readonly string[] {
    const names = ['n0', 'n1'];
    const nodes = names.map((name) => buildNode({ name, allocatable: { cpu: '1', memory: '4Gi' } }));
    const pods = names.map((node) => buildPod({ name: `on-${node}`, node, priority: 0, requests: { cpu: '1' } }));
    const proposal = pods.map(({ uid, spec: { nodeName: node = '' } }) => ({
      node,
      uids: withoutVictims.includes(node) ? [] : [uid],
      budgetViolations: 0,
    }));
    const pod = buildPod({ name: 'incoming', priority: 10, requests: { cpu: '1' } });
    const rules = { ...RULES, toLeave: () => new Map(toLeave.map((node) => [node, because])) };
    const verdicts = reviewProposal(createSnapshot({ nodes, pods }), { pod, proposal, now: 0 }, rules);
    return verdicts.flatMap((verdict) => (verdict.kind === 'removed' ? [] : [verdict.victims.node]));
  }

  test('is taken away while there is another', () => {
    expect(nodesLeft([])).toEqual(['n0', 'n1']);
    expect(nodesLeft(['n0'])).toEqual(['n1']);
  });

  test('stays where no pod has to leave it', () => {
    expect(nodesLeft(['n0'], ['n0'])).toEqual(['n0', 'n1']);
    expect(nodesLeft(['n0', 'n1'], ['n0'])).toEqual(['n0']);
  });

  test('stays where no other is left', () => {
    expect(nodesLeft(['n0', 'n1'])).toEqual(['n0', 'n1']);
  });
});

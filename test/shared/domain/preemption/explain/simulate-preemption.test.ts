import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { ProposalRules } from '#shared/domain/preemption/proposal/proposal.ts';
import { simulatePreemption } from '#shared/domain/preemption/explain/simulate-preemption.ts';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import { buildNode, buildPod, type PodFields } from '#test/build/cluster.ts';

const NODES = ['a', 'b'].map((name) => buildNode({ name, allocatable: { cpu: '10' } }));
const pod = (name: string, fields: Partial<PodFields>): Pod => buildPod({ name, requests: { cpu: '10' }, ...fields });
const LOW_AND_MID = [pod('low', { node: 'a', priority: 1 }), pod('mid', { node: 'b', priority: 5 })];
const PENDING = pod('pending', { priority: 10 });

function sparing(...names: readonly string[]): ProposalRules {
  const because = { code: 'ProtectedOptOut', text: '', facts: {} };
  return {
    budgets: 'BestEffort',
    usageAware: false,
    tieBreak: 'none',
    protection: ({ name }) => (names.includes(name) ? because : undefined),
  };
}

function outcome(pods: readonly Pod[], rules?: ProposalRules, pending = PENDING) {
  const simulation = simulatePreemption(createSnapshot({ nodes: NODES, pods }), pending, rules && { rules, now: 0 });
  switch (simulation.kind) {
    case 'preempts':
      return [simulation.chosen.node, ...simulation.chosen.victims.map((victim) => victim.pod.name)];
    case 'waits':
      return ['waits', simulation.node];
    case 'fits':
      return ['fits', ...simulation.nodes];
    case 'notPlaceable':
      return ['notPlaceable', simulation.because.code];
  }
}

describe('simulatePreemption', () => {
  test('a node with room needs no victim', () => {
    expect(outcome(LOW_AND_MID.slice(0, 1))).toEqual(['fits', 'b']);
  });

  test('without the extender the lowest victim goes', () => {
    expect(outcome(LOW_AND_MID)).toEqual(['a', 'low']);
  });

  test('the extender takes the node with a protected victim away', () => {
    expect(outcome(LOW_AND_MID, sparing('low'))).toEqual(['b', 'mid']);
  });

  test('it chooses other victims on the same node where they make room', () => {
    const half = (name: string, priority: number) => pod(name, { node: 'a', priority, requests: { cpu: '5' } });
    const pods = [half('spared', 1), half('other', 2), pod('high', { node: 'b', priority: 50 })];
    const pending = pod('pending', { priority: 10, requests: { cpu: '5' } });
    expect(outcome(pods, undefined, pending)).toEqual(['a', 'spared']);
    expect(outcome(pods, sparing('spared'), pending)).toEqual(['a', 'other']);
  });

  test('where all are protected no pod goes', () => {
    expect(outcome(LOW_AND_MID, sparing('low', 'mid'))).toEqual(['notPlaceable', 'Protected']);
  });

  test('pods that are terminating make room without a preemption', () => {
    const ending = pod('ending', { node: 'a', priority: 1, deletion: { at: 0, gracePeriodSeconds: 30 } });
    expect(outcome([ending, pod('high', { node: 'b', priority: 50 })], sparing())).toEqual(['waits', 'a']);
  });

  test('a preemptor waits for its victims on the nominated node', () => {
    const conditions = [{ type: 'DisruptionTarget', status: 'True', reason: 'PreemptionByScheduler' }];
    const victim = pod('victim', { node: 'a', priority: 1, deletion: { at: 0, gracePeriodSeconds: 30 }, conditions });
    const pending = pod('pending', { priority: 10, nominatedTo: 'a' });
    expect(outcome([victim, pod('high', { node: 'b', priority: 50 })], undefined, pending)).toEqual(['waits', 'a']);
  });

  test('a pod that never preempts takes no victim', () => {
    const never = pod('pending', { priority: 10, spec: { preemptionPolicy: 'Never' } });
    expect(outcome(LOW_AND_MID, undefined, never)).toEqual(['notPlaceable', 'neverPreempts']);
  });
});

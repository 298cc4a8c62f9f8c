import { describe, expect, test } from 'vitest';
import { decideDisruption, type RemovalRequest } from '#shared/domain/admission/decide-disruption.ts';
import { buildPod } from '#test/build/cluster.ts';

const POD = buildPod({ name: 'web', namespace: 'team-a', priority: 10, node: 'node-a' });

function disruption(more: Partial<RemovalRequest>): RemovalRequest {
  return {
    kind: 'eviction',
    caller: 'agent',
    callerNode: 'node-a',
    pod: POD,
    expectedUid: POD.uid,
    gracePeriodSeconds: undefined,
    isDryRun: false,
    wishes: { mayBeEvicted: true, mayBePreempted: true },
    protectedNamespaces: new Set(['kube-system']),
    optOutCeiling: 100,
    optOut: 'WithinRequest',
    policy: undefined,
    ...more,
  };
}

const STAYS = { mayBeEvicted: false, mayBePreempted: false };

describe('decideDisruption', () => {
  const allowed: Record<string, Partial<RemovalRequest>> = {
    'our eviction of the pod with the given UID': {},
    'our eviction of a pod that asks to stay and is too important to ask': {
      wishes: STAYS,
      pod: { ...POD, spec: { ...POD.spec, priority: 101 } },
    },
    'eviction by another account of ours on any node': { caller: 'plimsoll', callerNode: 'node-b' },
    'the agent’s eviction where the policy of the node enforces': { policy: { name: 'p', mode: 'Enforce' } },
    'the agent’s dry run of an eviction where the policy of the node does not enforce': {
      isDryRun: true,
      policy: { name: 'p', mode: 'DryRun' },
    },
    'eviction by another account of ours where the policy of the node does not enforce': {
      caller: 'plimsoll',
      policy: { name: 'p', mode: 'DryRun' },
    },
    'another caller’s eviction, regardless of the pod’s opt-out': {
      caller: 'other',
      expectedUid: undefined,
      wishes: STAYS,
    },
    'eviction for queues of a pod that asks to stay': { caller: 'queues', callerNode: undefined, wishes: STAYS },
    'a person’s deletion': { caller: 'other', kind: 'deletion' },
    'preemption of a pod that does not mind': { caller: 'scheduler', kind: 'deletion' },
  };
  test.each(Object.entries(allowed))('allows %s', (_, more) => {
    expect(decideDisruption(disruption(more))).toMatchObject({
      kind: 'allowed',
      because: { code: 'DisruptionAccepted' },
    });
  });

  const refused: Record<string, { more: Partial<RemovalRequest>; code: number; reason: string }> = {
    'the agent’s eviction of a pod on another node': {
      more: { callerNode: 'node-b' },
      code: 403,
      reason: 'DisruptionOnOtherNode',
    },
    'the agent’s eviction of a pod on no node': {
      more: { pod: { ...POD, spec: { ...POD.spec, nodeName: undefined } } },
      code: 403,
      reason: 'DisruptionOnOtherNode',
    },
    'eviction with an agent’s token that no pod holds': {
      more: { callerNode: undefined },
      code: 403,
      reason: 'DisruptionOnOtherNode',
    },
    'eviction with an agent’s token of no node, of a pod on no node': {
      more: { callerNode: '', pod: { ...POD, spec: { ...POD.spec, nodeName: '' } } },
      code: 403,
      reason: 'DisruptionOnOtherNode',
    },
    'the agent’s eviction where the policy of the node is a dry run': {
      more: { policy: { name: 'p', mode: 'DryRun' } },
      code: 403,
      reason: 'DisruptionUnwanted',
    },
    'our deletion of any pod': { more: { kind: 'deletion' }, code: 403, reason: 'DisruptionUnwanted' },
    'our eviction without a UID': { more: { expectedUid: undefined }, code: 409, reason: 'DisruptionOfOtherPod' },
    'our eviction of a successor of the same name': {
      more: { expectedUid: 'uid-other' },
      code: 409,
      reason: 'DisruptionOfOtherPod',
    },
    'our eviction without any grace': { more: { gracePeriodSeconds: 0 }, code: 403, reason: 'DisruptionUnwanted' },
    'our eviction with a negative grace': { more: { gracePeriodSeconds: -1 }, code: 403, reason: 'DisruptionUnwanted' },
    'our eviction in a protected namespace': {
      more: { pod: { ...POD, namespace: 'kube-system' } },
      code: 403,
      reason: 'DisruptionOfProtectedPod',
    },
    'our eviction of a system priority': {
      more: { pod: { ...POD, spec: { ...POD.spec, priority: 2_000_000_000 } } },
      code: 403,
      reason: 'DisruptionOfProtectedPod',
    },
    'our eviction of a pod that asks to stay': {
      more: { wishes: STAYS },
      code: 403,
      reason: 'DisruptionOfProtectedPod',
    },
    'an eviction for queues in a protected namespace': {
      more: { caller: 'queues', pod: { ...POD, namespace: 'kube-system' } },
      code: 403,
      reason: 'DisruptionOfProtectedPod',
    },
    'an eviction for queues without any grace': {
      more: { caller: 'queues', gracePeriodSeconds: 0 },
      code: 403,
      reason: 'DisruptionUnwanted',
    },
    'preemption of a pod that asks not to be, by 429': {
      more: { caller: 'scheduler', kind: 'deletion', wishes: STAYS },
      code: 429,
      reason: 'DisruptionUnwanted',
    },
  };
  test.each(Object.entries(refused))('refuses %s', (_, { more, code, reason }) => {
    expect(decideDisruption(disruption(more))).toMatchObject({ kind: 'refused', code, because: { code: reason } });
  });

  test('tells the scheduler when to retry', () => {
    const decision = decideDisruption(disruption({ caller: 'scheduler', kind: 'deletion', wishes: STAYS }));
    expect(decision).toMatchObject({ retryAfterSeconds: 5 });
  });
});

import { describe, expect, test } from 'vitest';
import { decodePreemptionArgs, encodePreemptionResult } from '#scheduler/extender/preemption-args.ts';

const Pod = { metadata: { name: 'incoming', namespace: 'a', uid: 'u' }, spec: { priority: 10, containers: [] } };

function proposalOf(args: object): unknown {
  const decoded = decodePreemptionArgs({ Pod, ...args });
  return decoded.ok ? decoded.value.proposal : `${decoded.field}: ${decoded.message}`;
}

describe('decodePreemptionArgs', () => {
  test('the pod', () => {
    expect(decodePreemptionArgs({ Pod })).toMatchObject({ ok: true, value: { pod: { name: 'incoming', uid: 'u' } } });
  });

  test.each<[string, object, unknown]>([
    [
      'victims by UID',
      {
        NodeNameToMetaVictims: { n0: { Pods: [{ UID: 'x' }, { UID: 'y' }], NumPDBViolations: 1 } },
        NodeNameToVictims: null,
      },
      [{ node: 'n0', uids: ['x', 'y'], budgetViolations: 1 }],
    ],
    [
      'whole pods',
      { NodeNameToMetaVictims: null, NodeNameToVictims: { n0: { Pods: [{ metadata: { uid: 'x' } }] } } },
      [{ node: 'n0', uids: ['x'], budgetViolations: 0 }],
    ],
    [
      'a node without victims',
      { NodeNameToMetaVictims: { n0: null, n1: { Pods: null } } },
      [{ node: 'n1', uids: [], budgetViolations: 0 }],
    ],
    ['no nodes', {}, []],
    [
      'a list in place of nodes',
      { NodeNameToMetaVictims: [] },
      'NodeNameToMetaVictims: expected an object, got a list',
    ],
    [
      'a UID that is a number',
      { NodeNameToMetaVictims: { n0: { Pods: [{ UID: 7 }] } } },
      'NodeNameToMetaVictims.n0.Pods[0].UID: expected a text, got 7',
    ],
    ['a pod that cannot be read', { Pod: { spec: 1 } }, 'Pod.spec: expected an object, got 1'],
    ['no pod', { Pod: null }, 'Pod: expected an object'],
  ])('%s', (_, args, expected) => {
    expect(proposalOf(args)).toEqual(expected);
  });

  test.each([null, 7, [], 'x'])('%j is nothing of the kind', (raw) => {
    expect(decodePreemptionArgs(raw)).toEqual({ ok: false, field: '', message: 'expected an object' });
  });
});

describe('encodePreemptionResult', () => {
  test('is read as it was written', () => {
    const left = [{ node: 'n0', uids: ['x', 'y'], budgetViolations: 1 }];
    expect(proposalOf(encodePreemptionResult(left, { proposal: left }))).toEqual(left);
  });

  test('proposed victims as they came, others by what they are', () => {
    const NodeNameToMetaVictims = { n0: { Pods: [{ UID: 'x' }], NumPDBViolations: 1 }, n1: { Pods: [{ UID: 'y' }] } };
    const decoded = decodePreemptionArgs({ Pod, NodeNameToMetaVictims });
    const args = decoded.ok ? decoded.value : { proposal: [] };
    const left = [...args.proposal.slice(0, 1), { node: 'n1', uids: ['z'], budgetViolations: 2 }];
    expect(encodePreemptionResult(left, args)).toEqual({
      NodeNameToMetaVictims: { ...NodeNameToMetaVictims, n1: { Pods: [{ UID: 'z' }], NumPDBViolations: 2 } },
    });
  });
});

import { describe, expect, test } from 'vitest';
import type { Pod } from '#shared/domain/pod/pod.ts';
import { preemptionProtection } from '#shared/domain/placement/victims/victims-on-node.ts';
import { buildPod } from '#test/build/cluster.ts';

const SYSTEM_CRITICAL = 2_000_000_000;
const RULES = {
  protectedNamespaces: new Set(['kube-system']),
  optedOut: ({ annotations }: Pod) => annotations.has('stay'),
};
const plain = buildPod({ name: 'victim', node: 'n0', priority: 5 });
const node = { apiVersion: 'v1', kind: 'Node', name: 'n0', uid: 'n', isController: true };
const mirror = { ...plain, annotations: new Map([['kubernetes.io/config.mirror', 'hash']]), owners: [node] };
const optedOut = { ...plain, annotations: new Map([['stay', '']]) };
const ofSystem = { ...plain, namespace: 'kube-system' };

function codeOf(victim: Pod, priority: number): string | undefined {
  return preemptionProtection(victim, buildPod({ name: 'preemptor', priority }), RULES)?.code;
}

describe('preemptionProtection', () => {
  test.each<[string, Pod, number, string | undefined]>([
    ['no protection', plain, 10, undefined],
    ['the mirror of a static pod', mirror, SYSTEM_CRITICAL, 'ProtectedMirrorPod'],
    ['an opt-out', optedOut, 10, 'ProtectedOptOut'],
    ['an opt-out, against a system priority', optedOut, SYSTEM_CRITICAL, 'ProtectedOptOut'],
    ['a protected namespace', ofSystem, SYSTEM_CRITICAL - 1, 'ProtectedNamespace'],
    ['a protected namespace, against a system priority', ofSystem, SYSTEM_CRITICAL, undefined],
  ])('%s', (_, victim, preemptorPriority, code) => {
    expect(codeOf(victim, preemptorPriority)).toBe(code);
  });

  test('names the pod', () => {
    expect(preemptionProtection(ofSystem, plain, RULES)).toEqual({
      code: 'ProtectedNamespace',
      text: 'pod kube-system/victim is in a protected namespace',
      facts: { namespace: 'kube-system', pod: 'victim' },
    });
  });
});

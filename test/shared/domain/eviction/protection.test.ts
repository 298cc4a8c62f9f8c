import { describe, expect, test } from 'vitest';
import { type ProtectionRules, isCriticalPod, protectionOf } from '#shared/domain/eviction/protection.ts';
import { withinRequestProtection } from '#shared/domain/eviction/choose-victims.ts';
import { type PodWish, candidate, pod, usage } from '#test/shared/domain/ranking/builders.ts';

const RULES: ProtectionRules = {
  protectedNamespaces: new Set(['kube-system']),
  optOutCeiling: 100,
  wantsToStay: ({ annotations }) => annotations.get('plimsoll.dev/evict') === 'never',
};

function annotated(name: string, value: string): PodWish {
  return { metadata: { annotations: { [name]: value } } };
}

const SOURCE = 'kubernetes.io/config.source';
const MIRROR = 'kubernetes.io/config.mirror';

/** As a kubelet makes it on node `n`; `owner` changes the owner reference. */
function mirror(owner: object = {}, hash = '9a1f'): PodWish {
  const annotations = { [MIRROR]: hash, [SOURCE]: 'file' };
  const ownerReferences = [{ apiVersion: 'v1', kind: 'Node', name: 'n', uid: 'node-uid', controller: true, ...owner }];
  return { metadata: { annotations, ownerReferences }, spec: { nodeName: 'n' } };
}

const STAY = annotated('plimsoll.dev/evict', 'never');

describe('protectionOf', () => {
  test.each<[string, PodWish, string | undefined]>([
    ['an ordinary pod', {}, undefined],
    ['a pod from the API server', annotated(SOURCE, 'api'), undefined],
    ['a pod that claims to come from a file', annotated(SOURCE, 'file'), undefined],
    ['a pod that claims to come from nowhere', annotated(SOURCE, ''), undefined],
    ['a pod that claims to be a mirror', annotated(MIRROR, 'x'), undefined],
    ['a pod that claims to be a mirror on a node', { ...annotated(MIRROR, 'x'), spec: { nodeName: 'n' } }, undefined],
    ['a mirror that its node controls', mirror(), 'ProtectedMirrorPod'],
    ['a mirror with an empty hash', mirror({}, ''), 'ProtectedMirrorPod'],
    ['a mirror that another node controls', mirror({ name: 'other' }), undefined],
    ['a mirror that its node owns and does not control', mirror({ controller: false }), undefined],
    ['a mirror controlled by something else of that name', mirror({ kind: 'ReplicaSet' }), undefined],
    ['a mirror controlled by a Node of another group', mirror({ apiVersion: 'example.com/v1' }), undefined],
    ['the highest user priority', { priority: 1_999_999_999 }, undefined],
    ['the lowest system priority', { priority: 2_000_000_000 }, 'ProtectedPriority'],
    ['the name of a system class alone', { spec: { priorityClassName: 'system-node-critical' } }, undefined],
    ['a protected namespace', { namespace: 'kube-system' }, 'ProtectedNamespace'],
    ['a wish to stay', STAY, 'ProtectedOptOut'],
    ['a wish to stay at the ceiling', { ...STAY, priority: 100 }, 'ProtectedOptOut'],
    ['a wish to stay above the ceiling', { ...STAY, priority: 101 }, undefined],
  ])('%s', (_, wish, code) => {
    expect(protectionOf(pod('p', wish), RULES)?.code).toBe(code);
  });

  test.each([0, -1])('a pod without a priority stands at 0, also below a ceiling of %d', (optOutCeiling) => {
    const isHonoured = optOutCeiling >= 0;
    expect(protectionOf(pod('p', STAY), { ...RULES, optOutCeiling })?.facts).toEqual(
      isHonoured ? { priority: 0, optOutCeiling } : undefined,
    );
  });

  test('says what it saw', () => {
    expect(protectionOf(pod('p', { ...STAY, priority: 7 }), RULES)).toEqual({
      code: 'ProtectedOptOut',
      text: 'the pod asked never to be evicted',
      facts: { priority: 7, optOutCeiling: 100 },
    });
  });
});

describe('isCriticalPod, by the annotations that the kubelet itself writes', () => {
  test.each([
    ['api', false],
    ['file', true],
    ['', true],
    ['API', true],
  ])('a pod from the source "%s": %s', (source, isCritical) => {
    expect(isCriticalPod(pod('p', annotated(SOURCE, source)))).toBe(isCritical);
  });

  test('neither namespaces nor wishes make a pod critical', () => {
    expect([
      isCriticalPod(pod('p', { ...STAY, namespace: 'kube-system' })),
      isCriticalPod(pod('p', annotated(MIRROR, 'x'))),
    ]).toEqual([false, true]);
  });
});

describe('withinRequestProtection', () => {
  test('protects who keeps to the request, and who was not measured', () => {
    const of = pod('p', { requests: { memory: '10' } });
    const codes = [usage({ memoryBytes: 10 }), usage({ memoryBytes: 11 }), undefined].map(
      (each) => withinRequestProtection(candidate(of, each))?.code,
    );
    expect(codes).toEqual(['ProtectedWithinRequest', undefined, 'ProtectedWithinRequest']);
  });
});

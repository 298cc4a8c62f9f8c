import { describe, expect, test } from 'vitest';
import { chooseNodes, decideMutation } from '#shared/domain/admission/decide-mutation.ts';
import type { PodRequest } from '#shared/domain/admission/request.ts';
import type { OwnerKey, PodSpec } from '#shared/domain/pod/pod.ts';
import { buildClass, buildRequest, buildWorld } from '#test/build/admission.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';
import { patternOf } from '#test/build/pattern-of.ts';

function requestOf(kind: string, spec: Partial<PodSpec> = {}): PodRequest {
  const request = buildRequest(spec);
  const owner = { apiVersion: 'apps/v1', kind, name: 'web-1', uid: 'u1', isController: true };
  return { ...request, pod: { ...request.pod, owners: [{ ...owner, name: 'other', isController: false }, owner] } };
}

const avoiding = (nodes: readonly string[]) => () => nodes;

describe('chooseNodes', () => {
  test('asks for the controller of the pod', () => {
    const asked: OwnerKey[] = [];
    chooseNodes(requestOf('ReplicaSet'), (owner) => {
      asked.push(owner);
      return [];
    });
    expect(asked).toEqual([{ namespace: 'team-a', kind: 'ReplicaSet', name: 'web-1', uid: 'u1' }]);
  });

  test('answers the nodes with an entry for it, sorted', () => {
    const chosen = chooseNodes(requestOf('ReplicaSet'), avoiding(['b', 'c', 'a']));
    expect(chosen).toEqual({ owner: 'team-a/ReplicaSet/web-1', nodes: ['a', 'b', 'c'] });
  });

  test('of many nodes it answers the first 16, those whose entries last longest', () => {
    const names = Array.from({ length: 17 }, (_, index) => `n${10 + index}`);
    const chosen = chooseNodes(requestOf('ReplicaSet'), avoiding(names.toReversed()));
    expect(chosen?.nodes).toEqual(names.slice(1));
  });

  test.each<[string, PodRequest]>([
    ['a pod without a controller', buildRequest()],
    ['a pod of a DaemonSet', requestOf('DaemonSet')],
    ['a pod that is on a node', requestOf('ReplicaSet', { nodeName: 'a' })],
  ])('%s is left as it is', (_, request) => {
    expect(chooseNodes(request, avoiding(['a']))).toBeUndefined();
  });

  test('nothing is chosen without entries, and where the avoid lists are not read', () => {
    expect(chooseNodes(requestOf('ReplicaSet'), avoiding([]))).toBeUndefined();
    expect(chooseNodes(requestOf('ReplicaSet'), undefined)).toBeUndefined();
  });
});

describe('decideMutation with avoid lists', () => {
  const spec = { priorityClassName: 'high', priority: 5, preemptionPolicy: 'PreemptLowerPriority' };
  const world = buildWorld({ classes: [buildClass('high', 5)] });

  test('a complete pod is changed by its nodes alone, and the reason names them', () => {
    const avoidedBy = avoiding(['a', 'b', 'c', 'd']);
    const decision = decideMutation(requestOf('ReplicaSet', spec), { ...world, avoidedBy });
    expect(decision).toMatchObject({
      kind: 'allowed',
      change: { ...spec, avoidNodes: ['a', 'b', 'c', 'd'] },
    });
    const phrase = PHRASES.keptAwayFrom(['a', 'b', 'c', 'd'], 'team-a/ReplicaSet/web-1');
    expect(decision.because.text).toMatch(patternOf((reason) => `${reason}${phrase}`));
  });

  test('without entries it is left alone', () => {
    expect(decideMutation(requestOf('ReplicaSet', spec), { ...world, avoidedBy: avoiding([]) })).toMatchObject({
      change: undefined,
    });
  });
});

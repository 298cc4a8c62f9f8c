import { describe, expect, test } from 'vitest';
import { matchesQuota, matchingTerms, type ScopeTerm } from '#shared/domain/quota/resource-quota/resource-quota.ts';
import { pod, type PodWish } from '#test/shared/domain/ranking/builders.ts';
import { quota, term } from '#test/shared/domain/quota/builders.ts';

const HOUR = { spec: { activeDeadlineSeconds: 3600 } };
const BURSTABLE = { requests: { cpu: '1' } };
const UNREADABLE = term('PriorityClass', 'Equals', 'high');

function preferring(podAffinityTerm: object): PodWish {
  const preferred = [{ weight: 1, podAffinityTerm: { topologyKey: 'zone', ...podAffinityTerm } }];
  return { spec: { affinity: { podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: preferred } } } };
}

function requiring(affinityTerm: object): PodWish {
  const required = [{ topologyKey: 'zone', ...affinityTerm }];
  return { spec: { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: required } } } };
}

describe('matchingTerms', () => {
  test.each<[string, PodWish, string, boolean]>([
    ['a deadline is Terminating', HOUR, 'Terminating', true],
    ['a deadline of 0 is Terminating', { spec: { activeDeadlineSeconds: 0 } }, 'Terminating', true],
    ['a negative deadline is not', { spec: { activeDeadlineSeconds: -1 } }, 'Terminating', false],
    ['no deadline is NotTerminating', {}, 'NotTerminating', true],
    ['a deadline is not NotTerminating', HOUR, 'NotTerminating', false],
    ['no request is BestEffort', {}, 'BestEffort', true],
    ['a request is NotBestEffort', BURSTABLE, 'NotBestEffort', true],
    ['a class in the status is believed', { ...BURSTABLE, status: { qosClass: 'BestEffort' } }, 'BestEffort', true],
    ['no affinity stays at home', {}, 'CrossNamespacePodAffinity', false],
    ['affinity without namespaces stays at home', requiring({}), 'CrossNamespacePodAffinity', false],
    ['its own namespace counts', requiring({ namespaces: ['default'] }), 'CrossNamespacePodAffinity', true],
    ['an empty selector counts', preferring({ namespaceSelector: {} }), 'CrossNamespacePodAffinity', true],
    ['claims are not pods', {}, 'VolumeAttributesClass', false],
    ['an unknown scope has no pod', {}, 'Everything', false],
  ])('%s', (_, wish, scopeName, isMet) => {
    const terms = [term(scopeName)];
    expect(matchingTerms(pod('p', wish), terms)).toEqual({ ok: true, terms: isMet ? terms : [] });
  });

  test('only a priority class has operators', () => {
    const terms = [term('NotTerminating', 'DoesNotExist'), term('BestEffort', 'nonsense', 'x')];
    expect(matchingTerms(pod('p'), terms)).toEqual({ ok: true, terms });
  });

  test('the first term that cannot be evaluated is the answer', () => {
    expect(matchingTerms(pod('p'), [term('Terminating'), UNREADABLE, term('PriorityClass', 'In')])).toEqual({
      ok: false,
      term: UNREADABLE,
      message: 'failed to parse and convert selector: "Equals" is not a valid scope selector operator',
    });
  });
});

describe('matchesQuota', () => {
  const pods = { pods: '1' };

  test.each<[string, readonly ScopeTerm[], Readonly<Record<string, string>>, boolean]>([
    ['without scopes everything matches', [], pods, true],
    ['all scopes hold', [term('NotTerminating'), term('BestEffort')], pods, true],
    ['one scope does not hold', [term('NotTerminating'), term('NotBestEffort')], pods, false],
    ['nothing about pods is limited', [], { services: '1' }, false],
    ['nothing is enforced yet', [], {}, false],
  ])('%s', (_, scopes, hard, matches) => {
    expect(matchesQuota(quota('q', hard, { scopes }), pod('p'))).toEqual({ ok: true, matches });
  });

  test('an unreadable term stands after one that does not hold', () => {
    const unclear = quota('q', pods, { scopes: [term('Terminating'), UNREADABLE] });
    expect(matchesQuota(unclear, pod('p'))).toEqual({
      ok: false,
      message: 'failed to parse and convert selector: "Equals" is not a valid scope selector operator',
    });
  });
});

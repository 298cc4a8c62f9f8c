import { describe, expect, test } from 'vitest';
import { decideTemplate, decideValidation } from '#shared/domain/admission/decide-validation.ts';
import type { PodSearch } from '#shared/domain/admission/cluster-state.ts';
import { affinitySearches } from '#shared/domain/admission/warnings.ts';
import type { Pod, PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { buildClass, buildRequest, buildWorld, type WorldFields } from '#test/build/admission.ts';
import { buildPod, buildTerm, selectorOf } from '#test/build/cluster.ts';
import { PHRASES } from '#shared/domain/admission/messages/priority-messages.ts';

const CACHE = { app: 'cache' };
const HIGH = { priorityClassName: 'high', priority: 1_000, preemptionPolicy: 'PreemptLowerPriority' };
const PATH = 'spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution';

function partner(name: string, priority: number, more: Partial<Parameters<typeof buildPod>[0]> = {}): Pod {
  return buildPod({ name, namespace: 'team-a', labels: CACHE, priority, ...more });
}

function requestBeside(...podAffinity: readonly PodAffinityTerm[]) {
  return buildRequest(HIGH, {}, { scheduling: { podAffinity } });
}

function warningsOf(terms: readonly PodAffinityTerm[], cluster: WorldFields): readonly string[] {
  const built = buildWorld({ classes: [buildClass('high', 1_000)], ...cluster });
  return decideValidation(requestBeside(...terms), built).warnings;
}

function sentence(index: number, names: string): string {
  return PHRASES.affinityToLowerPriority(`${PATH}[${index}]`, 1_000, names);
}

describe('a pod with required affinity to pods of lower priority', () => {
  const named: Record<string, { terms: PodAffinityTerm[]; knownPods: Pod[]; says: string[] }> = {
    'names them': {
      terms: [buildTerm(CACHE)],
      knownPods: [partner('c-1', 10), partner('c-2', 1_000), partner('c-3', 999)],
      says: [sentence(0, '`c-1` (10), `c-3` (999)')],
    },
    'names the first few of many': {
      terms: [buildTerm(CACHE)],
      knownPods: [1, 2, 3, 4, 5].map((each) => partner(`c-${each}`, each)),
      says: [sentence(0, '`c-1` (1), `c-2` (2), `c-3` (3) and 2 more')],
    },
    'reports each term by its index': {
      terms: [buildTerm({ app: 'none' }), buildTerm(CACHE)],
      knownPods: [partner('c', 10)],
      says: [sentence(1, '`c` (10)')],
    },
    'takes a pod without a stored priority for 0': {
      terms: [buildTerm(CACHE)],
      knownPods: [buildPod({ name: 'c', namespace: 'team-a', labels: CACHE })],
      says: [sentence(0, '`c` (0)')],
    },
    'hears nothing about pods of other namespaces, not even how many there are': {
      terms: [{ ...buildTerm(CACHE), namespaces: ['team-a', 'team-b'] }],
      knownPods: [partner('c', 10), partner('d', 10, { namespace: 'team-b' })],
      says: [sentence(0, '`c` (10)')],
    },
    'hears nothing where all of them are in other namespaces': {
      terms: [{ ...buildTerm(CACHE), namespaces: ['team-b'] }],
      knownPods: [partner('d', 10, { namespace: 'team-b' })],
      says: [],
    },
    'hears nothing about equals and betters': {
      terms: [buildTerm(CACHE)],
      knownPods: [partner('c', 1_000), partner('d', 2_000)],
      says: [],
    },
    'hears nothing about pods that have ended, live elsewhere or are not meant': {
      terms: [buildTerm(CACHE)],
      knownPods: [
        partner('done', 10, { phase: 'Succeeded' }),
        partner('away', 10, { namespace: 'team-b' }),
        partner('other', 10, { labels: { app: 'web' } }),
      ],
      says: [],
    },
    'gets no warning without affinity terms': { terms: [], knownPods: [partner('c', 10)], says: [] },
  };
  test.each(Object.entries(named))('%s', (_, { terms, knownPods, says }) => {
    expect(warningsOf(terms, { knownPods })).toEqual(says);
  });

  test('gets a warning that there may be more pods than were read', () => {
    const cluster = { knownPods: [partner('c', 10)], isPartial: true };
    expect(warningsOf([buildTerm(CACHE)], cluster)).toEqual([sentence(0, '`c` (10) and perhaps more')]);
  });

  test('causes the warning on its template, because users do not see warnings about a controller’s pods', () => {
    const cluster = buildWorld({ classes: [buildClass('high', 1_000)], knownPods: [partner('c', 10)] });
    expect(decideTemplate(requestBeside(buildTerm(CACHE)), cluster)).toMatchObject({
      kind: 'allowed',
      warnings: [sentence(0, '`c` (10)')],
    });
  });
});

describe('affinitySearches', () => {
  const selector = selectorOf(CACHE);
  const cases: Record<string, { terms: readonly PodAffinityTerm[]; searches: readonly PodSearch[] }> = {
    'nothing without required affinity': { terms: [], searches: [] },
    'the own namespace where a term names none': {
      terms: [buildTerm(CACHE)],
      searches: [{ namespace: 'team-a', selector }],
    },
    'the own namespace where a term names it among others': {
      terms: [{ ...buildTerm(CACHE), namespaces: ['x', 'team-a', 'y'] }],
      searches: [{ namespace: 'team-a', selector }],
    },
    'the own namespace where a term selects it': {
      terms: [{ ...buildTerm(CACHE), namespaceSelector: selectorOf({ tier: 'shared' }) }],
      searches: [{ namespace: 'team-a', selector }],
    },
    'nothing where a term names other namespaces': {
      terms: [{ ...buildTerm(CACHE), namespaces: ['x', 'y'] }],
      searches: [],
    },
    'nothing where a term selects other namespaces': {
      terms: [{ ...buildTerm(CACHE), namespaceSelector: selectorOf({ tier: 'other' }) }],
      searches: [],
    },
    'nothing where a term selects no pod': { terms: [{ ...buildTerm(CACHE), labelSelector: undefined }], searches: [] },
    'the pods of the first eight of many terms': {
      terms: Array.from({ length: 2_000 }, () => buildTerm(CACHE)),
      searches: Array.from({ length: 8 }, () => ({ namespace: 'team-a', selector })),
    },
  };
  test.each(Object.entries(cases))('looks for %s', (_, { terms, searches }) => {
    expect(affinitySearches(requestBeside(...terms), buildWorld({ labels: { tier: 'shared' } }))).toEqual(searches);
  });
});

describe('affinity that is expensive to evaluate', () => {
  const EVERYWHERE = { ...buildTerm(CACHE), namespaceSelector: selectorOf({}) };
  const NOWHERE = { ...buildTerm(CACHE), namespaceSelector: selectorOf({ no: 'where' }) };
  const names = Array.from({ length: 10_000 }, (_, index) => `n${index}`);
  const values = Array.from({ length: 5_000 }, (_, index) => `v${index}`);
  const dear = { matchLabels: new Map(), matchExpressions: [{ key: 'k', operator: 'In', values }] };

  function worldOf(knownPods: readonly Pod[] = []) {
    const asked = { labels: 0 };
    const namespaceLabels = (): ReadonlyMap<string, string> => {
      asked.labels += 1;
      return new Map([['k', 'v']]);
    };
    const cluster = buildWorld({ classes: [buildClass('high', 1_000)], knownPods });
    return { asked, cluster: { ...cluster, namespaceNames: () => names, namespaceLabels } };
  }

  const cases: Record<string, { terms: readonly PodAffinityTerm[]; searches: number }> = {
    'terms that select every namespace': { terms: Array.from({ length: 6_000 }, () => EVERYWHERE), searches: 8 },
    'terms that select no namespace': { terms: Array.from({ length: 6_000 }, () => NOWHERE), searches: 0 },
    'the own namespace again and again': {
      terms: [{ ...buildTerm(CACHE), namespaces: names.map(() => 'team-a') }],
      searches: 1,
    },
    'a namespace selector with many values': {
      terms: Array.from({ length: 100 }, () => ({ ...EVERYWHERE, namespaceSelector: dear })),
      searches: 0,
    },
    'a pod selector with many values': {
      terms: Array.from({ length: 100 }, () => ({ ...NOWHERE, labelSelector: dear })),
      searches: 0,
    },
  };
  test.each(Object.entries(cases))('searches for pods within a work limit: %s', (_, { terms, searches }) => {
    const { asked, cluster } = worldOf();
    expect(affinitySearches(requestBeside(...terms), cluster)).toHaveLength(searches);
    expect(asked.labels).toBeLessThanOrEqual(20_000);
  });

  test('checks for warnings within a work limit, after the verdict', () => {
    const partners = Array.from({ length: 4_000 }, (_, index) => partner(`c-${index}`, 10));
    const { asked, cluster } = worldOf(partners);
    const terms = Array.from({ length: 6_000 }, () => NOWHERE);
    expect(decideValidation(requestBeside(...terms), cluster)).toMatchObject({ kind: 'allowed', warnings: [] });
    expect(asked.labels).toBeLessThanOrEqual(20_000);
  });

  test('reports the first few terms', () => {
    const { cluster } = worldOf([partner('c', 10)]);
    const terms = Array.from({ length: 100 }, () => EVERYWHERE);
    expect(decideValidation(requestBeside(...terms), cluster).warnings).toHaveLength(8);
  });

  test('does not check refused pods for warnings', () => {
    const { cluster } = worldOf([partner('c', 10)]);
    const request = buildRequest({ ...HIGH, priority: 5 }, {}, { scheduling: { podAffinity: [EVERYWHERE] } });
    expect(decideValidation(request, cluster)).toMatchObject({ kind: 'refused', warnings: [] });
  });
});

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AffinityTerm, prepareTerm, selectsPod, TermIndex } from '#shared/domain/pod/affinity-term.ts';
import type { PodAffinityTerm } from '#shared/domain/pod/pod.ts';
import { buildPod, buildTerm, mapOf, selectorOf } from '#test/build/cluster.ts';

const RUNS = { seed: 24, numRuns: 500 };
const NAMESPACES = ['a', 'b', 'c'];
const KEYS = ['app', 'tier'];
const VALUES = ['x', 'y', ''];

const labels = fc.dictionary(fc.constantFrom(...KEYS), fc.constantFrom(...VALUES));
const requirement = fc.oneof(
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('In', 'NotIn'),
    values: fc.array(fc.constantFrom(...VALUES, ...Array.from({ length: 9 }, (_, at) => `v${at}`)), {
      minLength: 1,
      maxLength: 12,
    }),
  }),
  fc.record({
    key: fc.constantFrom(...KEYS),
    operator: fc.constantFrom('Exists', 'DoesNotExist'),
    values: fc.constant([]),
  }),
);
const selector = fc.option(
  fc.record({ matchLabels: labels.map(mapOf), matchExpressions: fc.array(requirement, { maxLength: 2 }) }),
  { nil: undefined },
);
const term: fc.Arbitrary<PodAffinityTerm> = fc.record({
  topologyKey: fc.constant('zone'),
  labelSelector: selector,
  namespaces: fc.subarray(NAMESPACES),
  namespaceSelector: fc.option(selector, { nil: undefined }),
  matchLabelKeys: fc.constant([]),
  mismatchLabelKeys: fc.constant([]),
});
const pod = fc
  .record({ namespace: fc.constantFrom(...NAMESPACES), labels })
  .map((fields) => buildPod({ name: 'p', ...fields }));

function indexed(terms: readonly AffinityTerm[]): TermIndex<number> {
  const index = new TermIndex<number>();
  for (const [at, each] of terms.entries()) index.add(each, at);
  return index;
}

function found(index: TermIndex<number>, about: ReturnType<typeof buildPod>): readonly number[] {
  return [...index.about(about)].flatMap((bucket) => [...(bucket?.values() ?? [])]);
}

describe('TermIndex', () => {
  test('finds each term that selects a pod, once; a removed one no more', () => {
    const owner = buildPod({ name: 'owner', namespace: 'a' });
    const property = fc.property(fc.array(term), pod, labels, (terms, other, namespaceLabels) => {
      const prepared = terms.map((each) => prepareTerm(owner, each));
      const index = indexed(prepared);
      const all = found(index, other);
      expect(new Set(all).size).toBe(all.length);
      const selecting = prepared.flatMap((each, at) => (selectsPod(each, other, mapOf(namespaceLabels)) ? [at] : []));
      expect(all).toEqual(expect.arrayContaining(selecting));
      for (const each of prepared) index.remove(each);
      expect(found(index, other)).toEqual([]);
    });
    fc.assert(property, RUNS);
  });

  test('a thousand terms about other labels or namespaces cost nothing', () => {
    const owner = buildPod({ name: 'owner', namespace: 'a' });
    const others = Array.from({ length: 1_000 }, (_, at) => buildTerm({ app: `app-${at}` }));
    const far = { ...buildTerm({ app: 'web' }), namespaces: ['b'] };
    const near = { ...buildTerm({}), labelSelector: selectorOf({ app: 'web' }) };
    const index = indexed([...others, far, near].map((each) => prepareTerm(owner, each)));
    expect(found(index, buildPod({ name: 'p', namespace: 'a', labels: { app: 'web', tier: 'x' } }))).toEqual([1_001]);
  });
});

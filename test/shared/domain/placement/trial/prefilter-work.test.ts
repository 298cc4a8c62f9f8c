import { describe, expect, test, vi } from 'vitest';
import { createSnapshot } from '#shared/domain/snapshot/create-snapshot.ts';
import type { Pod, PodAffinityTerm, SchedulingRules } from '#shared/domain/pod/pod.ts';
import { prefilterInSteps } from '#shared/domain/placement/trial/prefilter-state.ts';
import { buildNode, buildPod, buildSpread, buildTerm } from '#test/build/cluster.ts';

const NODES = 50;
const PODS = 5_000;
const TERMS = 1_000;
const MAX_LOOKUPS_PER_STEP = 5_000;

/** Counts how often a label is asked for: a comparison of a selector with a pod asks once for each requirement. */
class CountedLabels extends Map<string, string> {
  static asked = 0;

  override get(key: string): string | undefined {
    CountedLabels.asked += 1;
    return super.get(key);
  }
}

/** Pods with this many different sets of labels. */
function clusterOf(labelSets: number, antiAffinity: readonly PodAffinityTerm[] = []) {
  const sets = Array.from({ length: labelSets }, (_, at) => new CountedLabels([['app', `app-${at}`]]));
  const pods = Array.from({ length: PODS }, (_, at): Pod => {
    const built = buildPod({ name: `p${at}`, node: `n${at % NODES}`, scheduling: { podAntiAffinity: antiAffinity } });
    return { ...built, labels: sets[at % labelSets] ?? built.labels };
  });
  return createSnapshot({ nodes: Array.from({ length: NODES }, (_, at) => buildNode({ name: `n${at}` })), pods });
}

/** How many labels are asked for in all, and at most in one step; of a work without end only the beginning. */
function workOf(snapshot: ReturnType<typeof clusterOf>, scheduling: Partial<SchedulingRules>) {
  const built = buildPod({ name: 'incoming', scheduling });
  const steps = prefilterInSteps(snapshot, { ...built, labels: new CountedLabels([['app', 'web']]) });
  let most = 0;
  CountedLabels.asked = 0;
  for (let step = 0, before = 0; step < 3_000 && steps.next().done !== true; step += 1) {
    most = Math.max(most, CountedLabels.asked - before);
    before = CountedLabels.asked;
  }
  return { all: CountedLabels.asked, most };
}

function termsOf(make: (at: number) => PodAffinityTerm): readonly PodAffinityTerm[] {
  return Array.from({ length: TERMS }, (_, at) => make(at));
}

/** About every pod, by a requirement that no index knows. */
function broadTerm(at: number): PodAffinityTerm {
  const matchExpressions = [
    { key: 'app', operator: 'NotIn', values: [`app-${at}`] },
    { key: 'never', operator: 'Exists', values: [] },
  ];
  return { ...buildTerm({}), labelSelector: { matchLabels: new Map(), matchExpressions } };
}

const ANY_APP = { matchLabels: new Map(), matchExpressions: [{ key: 'app', operator: 'Exists', values: [] }] };

describe('the work of preparing the filters (T-99)', () => {
  test.each<[string, Partial<SchedulingRules>]>([
    ['anti-affinity', { podAntiAffinity: termsOf((at) => buildTerm({ app: `app-${at}` })) }],
    ['affinity', { podAffinity: termsOf((at) => buildTerm({ app: `app-${at}` })) }],
    ['a spread', { topologySpread: [buildSpread('kubernetes.io/hostname')] }],
  ])('%s of a thousand terms looks at each set of labels, not at terms times pods', (_, scheduling) => {
    expect(workOf(clusterOf(100), scheduling).all).toBeLessThan(2 * TERMS);
  });

  test('a thousand terms that all pods of a template have are compared once, not for each pod', () => {
    const terms = termsOf((at) => ({ ...buildTerm({}), ...broadTerm(at) }));
    expect(workOf(clusterOf(100, terms), {}).all).toBeLessThan(3 * TERMS);
  });

  test.each<[string, Partial<SchedulingRules>]>([
    ['anti-affinity', { podAntiAffinity: termsOf(broadTerm) }],
    ['affinity', { podAffinity: termsOf(() => ({ ...buildTerm({}), labelSelector: ANY_APP })) }],
    ['a spread', { topologySpread: [buildSpread('kubernetes.io/hostname', { labelSelector: ANY_APP })] }],
  ])('%s that no index helps with is done in small steps', (_, scheduling) => {
    expect(workOf(clusterOf(PODS), scheduling).most).toBeLessThan(MAX_LOOKUPS_PER_STEP);
  });

  test('pods that keep the incoming pod away are counted in small steps', () => {
    const snapshot = clusterOf(100, [buildTerm({ app: 'web' })]);
    const labels = new Map([['app', 'web']]);
    const steps = prefilterInSteps(snapshot, { ...buildPod({ name: 'incoming' }), labels });
    const nodeOf = vi.spyOn(snapshot.nodes, 'get');
    let most = 0;
    for (let before = 0; steps.next().done !== true; before = nodeOf.mock.calls.length)
      most = Math.max(most, nodeOf.mock.calls.length - before);
    expect(nodeOf.mock.calls.length).toBeGreaterThanOrEqual(PODS);
    expect(most).toBeLessThanOrEqual(100);
  });

  test('a hundred thousand values of a requirement are not gone through for each pod', () => {
    const values = Array.from({ length: 100_000 }, (_, at) => `value-${at}`);
    const includes = values.includes.bind(values);
    let asked = 0;
    values.includes = (...given) => ((asked += 1), includes(...given));
    const labelSelector = { matchLabels: new Map(), matchExpressions: [{ key: 'app', operator: 'In', values }] };
    workOf(clusterOf(PODS), { podAntiAffinity: [{ ...buildTerm({}), labelSelector }] });
    expect(asked).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { advanceGrowth, type GrowthWindows, NO_GROWTH } from '#shared/decide/eviction/usage-growth.ts';
import { MIB, type NodePod, policy, snapshot } from '#test/agent/node-scene.ts';
import { wholeQuantity } from '#shared/domain/pressure/signal.ts';

const sleepers = Array.from({ length: 12 }, (_, index): NodePod => ({
  name: `sleep-${index}`,
  priority: -10,
  usageMiB: 2,
}));
const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 600 };
const LIMITS = { concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespacePerTenMinutes: 4 };
const NOW = 1_000_000;

function lowPods(usageMiB: number): readonly NodePod[] {
  return ['low', 'low-2'].map((name) => ({ name, priority: -10, usageMiB }));
}

interface Case {
  readonly pods: readonly NodePod[];
  readonly availableMiB?: number;
  /** MiB per second. */
  readonly fillRate?: number;
  readonly rules?: Partial<AgentPolicy>;
  readonly past?: number;
  /** By name, in the last five seconds. */
  readonly grownMiB?: Readonly<Record<string, number>>;
}

function growthOf({ pods, grownMiB = {}, availableMiB = 50 }: Case): GrowthWindows {
  const before = pods.map((pod) => ({ ...pod, usageMiB: (pod.usageMiB ?? 0) - (grownMiB[pod.name] ?? 0) }));
  const lostMiB = Object.values(grownMiB).reduce((sum, each) => sum + each, 0);
  const measured = { at: NOW - 5000, available: (availableMiB + lostMiB) * MIB };
  return advanceGrowth(NO_GROWTH, snapshot({ now: NOW - 5000, pods: before }), measured);
}

function whoGoes(given: Case): readonly string[] {
  const { pods, availableMiB = 50, fillRate = 0, rules, past = 0 } = given;
  const evicted = Array.from({ length: past }, (_, index) => ({
    at: NOW - 30_000,
    uid: `past-${index}`,
    namespace: 'default',
    owner: undefined,
    resource: 'memory' as const,
  }));
  const trend = { at: NOW, available: availableMiB * MIB, fillRate: (fillRate * MIB) / 1000, lastingRate: 0 };
  const evictions = { ...FIRST_STATE.evictions, Enforce: { ...FIRST_STATE.evictions.Enforce, past: evicted } };
  const seen = snapshot({ now: NOW, availableMiB, pods });
  const inForce = policy({ limits: LIMITS, ...rules });
  return decide({ ...FIRST_STATE, evictions, trend, growth: growthOf(given) }, seen, inForce).evictions.map(
    ({ pod }) => pod.name,
  );
}

describe('in the severe stage', () => {
  test('twelve sleeping pods of lower priority do not go in place of the pod that took the memory', () => {
    expect(whoGoes({ pods: [...sleepers, hog] })).toEqual(['hog']);
    expect(whoGoes({ pods: sleepers })).toEqual(['sleep-0']);
  });

  test('nor while that pod is held: then no pod goes', () => {
    expect(whoGoes({ pods: [...sleepers, { ...hog, namespace: 'kube-system' }] })).toEqual([]);
  });

  test('a pod that closes the gap alone goes, however small', () => {
    const low = (usageMiB: number): NodePod => ({ name: 'low', priority: -10, usageMiB });
    expect(whoGoes({ pods: [low(50), hog] })).toEqual(['low']);
    expect(whoGoes({ pods: [low(49), hog] })).toEqual(['hog']);
  });

  test.each<[minimum: AgentPolicy['minimumRelief'], name: string]>([
    [{ kind: 'share', share: 0.5 }, 'low'],
    [{ kind: 'share', share: 0.7 }, 'hog'],
    [{ kind: 'amount', amount: wholeQuantity(30 * MIB, 'BinarySI') }, 'low'],
    [{ kind: 'amount', amount: wholeQuantity(31 * MIB, 'BinarySI') }, 'hog'],
  ])('the policy says what is worthwhile: %j', (minimumRelief, name) => {
    expect(whoGoes({ pods: [...lowPods(30), hog], rules: { minimumRelief } })).toEqual([name]);
  });

  test('a pod goes before a more important larger one as long as there is time for both', () => {
    const pods = [...lowPods(70), hog];
    expect(whoGoes({ pods, availableMiB: 10, fillRate: 1 })).toEqual(['low']);
    expect(whoGoes({ pods, availableMiB: 10, fillRate: 4 })).toEqual(['hog']);
  });

  test('the pod that takes the memory goes before a more important larger one that takes none, however little time is left', () => {
    const leak: NodePod = { name: 'leak', usageMiB: 60 };
    const quiet: NodePod = { name: 'quiet', priority: 1000, usageMiB: 600 };
    const scene = { pods: [leak, quiet], availableMiB: 10, fillRate: 10 };
    expect(whoGoes(scene)).toEqual(['quiet']);
    expect(whoGoes({ ...scene, grownMiB: { leak: 40 } })).toEqual(['leak']);
    // It takes less than half of what is lost.
    expect(whoGoes({ ...scene, grownMiB: { leak: 40, quiet: 50 } })).toEqual(['quiet']);
  });

  test('a pod that the others make unnecessary stays', () => {
    const rules = {
      limits: { ...LIMITS, concurrent: 3, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
    };
    const low: NodePod = { name: 'low', priority: -10, usageMiB: 70 };
    expect(whoGoes({ pods: [low, hog], availableMiB: 10, rules })).toEqual(['hog']);
  });
});

describe('in the last chance', () => {
  const rate = { availableMiB: 50, fillRate: 20 };

  test.each<[sentence: string, given: Partial<Case>, names: readonly string[]]>([
    ['the windows yield', rate, ['hog']],
    ['not before it', { ...rate, fillRate: 5 }, []],
    ['up to what the kubelet would do in a minute', { ...rate, past: 6 }, []],
    ['a limit of 0 never does', { ...rate, rules: { limits: { ...LIMITS, perMinute: 0 } } }, []],
  ])('%s', (_, given, names) => {
    expect(whoGoes({ pods: [hog], past: 4, ...given })).toEqual(names);
  });
});

import { describe, expect, test } from 'vitest';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { memoryReadings, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode, whoWent } from '#test/shared/decide/eviction/episode.ts';
import { type GrowingPod, simulate } from '#test/shared/decide/eviction/simulated-node.ts';

const rules = policy({
  limits: { concurrent: 1, perMinute: 99, perTenMinutes: 99, perNamespacePerTenMinutes: 99 },
});
const small = (name: string): GrowingPod => ({ name, priority: 0, requests: { memory: '10Mi' }, usageMiB: 60 });
const hog: GrowingPod = { name: 'hog', priority: 1000, requests: { memory: '100Mi' }, usageMiB: 300, growsMiB: 15 };
const steady: GrowingPod = { name: 'steady', priority: 2000, requests: { memory: '400Mi' }, usageMiB: 300 };

function namesOf({ evicted }: { readonly evicted: readonly string[] }): readonly string[] {
  return evicted.map((line) => line.split(' ')[1] ?? '');
}

describe('the circuit breaker', () => {
  test('does not trip when another pod grows while small pods of low priority are evicted', () => {
    const run = simulate({ pods: [small('a'), small('b'), hog, steady], policy: rules, untilMs: 60_000 });
    expect(run.exhaustedAtMs).toBeUndefined();
    expect(run.closedGates).not.toContain('Ineffective');
    expect(namesOf(run)).toEqual(['a', 'b', 'hog']);
  });

  test.each([50, 100, 200])('prevents exhaustion by small victims, at %d MiB a second', (growsMiB) => {
    const pods = [small('a'), small('b'), small('c'), { ...hog, usageMiB: 200, growsMiB }, steady];
    const limits = { ...rules.limits, perNamespacePerTenMinutes: 4 };
    const hard = parseThresholds({ evictionHard: { 'memory.available': '250Mi' } });
    const shipped = { ...rules, limits, thresholds: hard.ok ? hard.thresholds : [] };
    const run = simulate({ pods, policy: shipped, untilMs: 30_000 });
    expect(run.exhaustedAtMs).toBeUndefined();
    expect(namesOf(run)).toContain('hog');
    expect(namesOf(run)).not.toContain('steady');
  });

  test('does not stop for a shortage that grows, whatever grows it', () => {
    const [a, b, c] = ['a', 'b', 'c'].map(small) as [NodePod, NodePod, NodePod];
    const left = (first: number, perSecond: number): readonly Moment[] =>
      [
        { now: 0, pods: [a, b, c] },
        { now: 1000, pods: [b, c] },
        { now: 3100, pods: [b, c] },
        { now: 4000, pods: [c] },
        { now: 6100, pods: [c] },
      ].map((scene) => ({ ...scene, availableMiB: first - (perSecond * scene.now) / 1000 }));
    expect(whoWent(left(50, 0), rules)).toEqual([['a'], [], ['b'], [], []]);
    expect(whoWent(left(50, 1), rules)).toEqual([['a'], [], ['b'], [], ['c']]);
  });

  test('stops evictions for one resource and for no other', () => {
    const parsed = parseThresholds({ evictionHard: { 'pid.available': '100', 'memory.available': '100Mi' } });
    const both = { ...rules, thresholds: parsed.ok ? parsed.thresholds : [] };
    const forkers = ['a', 'b', 'c'].map((name): NodePod => ({ ...small(name), processCount: 300 }));
    const at = (now: number, availableMiB: number, ...pods: readonly NodePod[]): Moment => {
      const processes = { at: now, maximum: 1000, running: 950 };
      return {
        now,
        availableMiB,
        pods,
        snapshot: { readings: { ...memoryReadings(availableMiB, 1000, now), processes } },
      };
    };
    const [a, b, c] = forkers as [NodePod, NodePod, NodePod];
    const moments = [
      at(0, 500, a, b, c),
      at(1000, 500, b, c),
      at(3000, 500, b, c),
      at(4000, 500, c),
      at(6000, 500, c),
      at(6100, 50, c),
    ];
    const { steps } = runEpisode(moments, both);
    expect(steps.map(({ evicted }) => evicted)).toEqual([['a'], [], ['b'], [], [], ['c']]);
    expect(steps[4]?.closedGates).toEqual(['Ineffective']);
  });
});

import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, MIB, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';
import { hog, small, run, evicted } from './run-scenes.ts';

describe('decide, by stall rules', () => {
  const memoryStalls = (short: number, long: number, now = short) => [
    { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 500, ratio: now },
    { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 10_000, ratio: short },
    { signal: 'memory.pressure' as const, share: 'full' as const, windowMs: 60_000, ratio: long },
  ];
  /** The kernel scans more in ten seconds than is available, half of it in vain. */
  const reclaim = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };
  const none = policy({ thresholds: [] });

  test.each<[sentence: string, availableMiB: number, short: number, long: number, expected: readonly string[]]>([
    ['waiting in both windows while memory is short', 90, 0.2, 0.1, ['hog']],
    ['stalls while gigabytes are free come from a pod inside its own limit', 500, 0.9, 0.9, []],
    ['the long window says it is not real', 90, 0.9, 0.05, []],
    ['the short window says it is over', 90, 0.1, 0.9, []],
  ])('%s', (_sentence, availableMiB, short, long, expected) => {
    const scene = {
      now: 0,
      availableMiB,
      pods: [hog, small],
      snapshot: { stalls: memoryStalls(short, long), reclaim },
    };
    expect(evicted([scene], none)).toEqual([expected]);
  });

  test('what is left is the figure that decides: page cache is no shortage', () => {
    const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
    expect(evicted([{ now: 0, availableMiB: 50, reclaimableMiB: 900, pods: [hog], snapshot }], none)).toEqual([[]]);
    expect(evicted([{ now: 0, availableMiB: 900, reclaimableMiB: 50, pods: [hog], snapshot }], none)).toEqual([
      ['hog'],
    ]);
  });

  const patient = policy({
    thresholds: [],
    limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
  });
  const twins = ['a', 'b'].map((name) => ({ ...small, name }));

  test('the windows restart once the victim is gone', () => {
    const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
    const after = (now: number): Scene => ({ now, availableMiB: 90, pods: twins.slice(1), snapshot });
    const leaving: Scene = { now: 900, availableMiB: 50, pods: twins, snapshot };
    const scenes = [{ ...leaving, now: 0 }, leaving, after(1000), after(3100), after(60_900), after(61_000)];
    expect(evicted(scenes, patient)).toEqual([['a'], [], [], [], [], ['b']]);
  });

  test('the windows restart after an eviction for a memory threshold, but not for another resource', () => {
    const snapshot = { stalls: memoryStalls(0.9, 0.9), reclaim };
    const rules = policy({ limits: patient.limits });
    const after = (now: number): Scene => ({ now, availableMiB: 95, pods: twins.slice(1), snapshot });
    const busy = { ...snapshot, stalls: snapshot.stalls.slice(1) };
    const scenes = [
      { now: 0, availableMiB: 40, pods: twins, snapshot: busy },
      { ...after(1000), availableMiB: 250 },
    ];
    const later = [4000, 30_000, 59_000].map((now) => ({ ...after(now), availableMiB: 250 }));
    expect(evicted([...scenes, ...later], { ...rules, stallRules: withRoom(rules) })).toEqual([['a'], [], [], [], []]);
  });

  /** The rule of memory pressure for a node with a quarter of its memory left. */
  const withRoom = ({ stallRules }: AgentPolicy): AgentPolicy['stallRules'] =>
    stallRules.map((rule) => ({ ...rule, evidence: { ...rule.evidence, below: { kind: 'share', share: 0.3 } } }));

  test('evicts no pod when no task stalls any more, whatever the windows say', () => {
    const at = (now: number, waitsNow: number): Scene => ({
      now,
      availableMiB: 50,
      pods: [hog],
      snapshot: { stalls: memoryStalls(0.9, 0.9, waitsNow), reclaim },
    });
    expect(run([at(0, 0), at(100, 0.1)], none).steps).toEqual([
      { evicted: [], closedGates: [] },
      { evicted: [], closedGates: [] },
    ]);
    expect(evicted([at(0, 0), at(100, 0.2)], none)).toEqual([[], ['hog']]);
  });

  test('a window that is not full causes no eviction', () => {
    const snapshot = { stalls: memoryStalls(0.9, 0.9).slice(0, 2), reclaim };
    expect(evicted([{ now: 0, availableMiB: 90, pods: [hog], snapshot }], none)).toEqual([[]]);
  });

  test('CPU pressure ranks by CPU above requests, and is only reported unless an operator enabled it', () => {
    const stalls = [
      { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 500, ratio: 0.9 },
      { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 10_000, ratio: 0.9 },
      { signal: 'cpu.pressure' as const, share: 'some' as const, windowMs: 300_000, ratio: 0.9 },
    ];
    const burner: NodePod = { name: 'burner', requests: { cpu: '100m' }, cpuNanoCores: 2e9, usageMiB: 1 };
    const scene = {
      now: 0,
      availableMiB: 900,
      pods: [hog, burner],
      snapshot: { stalls, cpu: { availableCores: 0.02, cores: 2 } },
    };
    const first = decide(FIRST_STATE, snapshot(scene), none);
    expect(first.evictions).toEqual([]);
    const later = decide(first.state, snapshot({ ...scene, now: 300_000 }), none);
    expect(later.evictions.map(({ pod, mode, signal }) => [pod.name, mode, signal])).toEqual([
      ['burner', 'DryRun', 'cpu.pressure'],
    ]);
  });
});

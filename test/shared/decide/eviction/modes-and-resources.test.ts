import { describe, expect, test } from 'vitest';
import { type StallRatio, type AgentPolicy, DEFAULT_STALL_RULES } from '#shared/api/node-pressure-policy/policy.ts';
import { DEFAULT_LIMITS } from '#shared/domain/eviction/eviction-limits.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { memoryReadings, MIB, type NodePod, policy } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode, whoWent } from './episode.ts';

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
/** Busy, and the second largest in memory. */
const burner: NodePod = { name: 'burner', requests: { cpu: '100m', memory: '10Mi' }, cpuNanoCores: 2e9, usageMiB: 300 };
const CPU_BUSY: readonly StallRatio[] = [
  { signal: 'cpu.pressure', share: 'some', windowMs: 500, ratio: 0.9 },
  { signal: 'cpu.pressure', share: 'some', windowMs: 10_000, ratio: 0.9 },
  { signal: 'cpu.pressure', share: 'some', windowMs: 300_000, ratio: 0.9 },
];
const MEMORY_STALLS: readonly StallRatio[] = [
  { signal: 'memory.pressure', share: 'full', windowMs: 500, ratio: 0.9 },
  { signal: 'memory.pressure', share: 'full', windowMs: 10_000, ratio: 0.9 },
  { signal: 'memory.pressure', share: 'full', windowMs: 60_000, ratio: 0.9 },
];
const IN_VAIN = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };
const GRACE_MS = 300_000;

/** All processors are busy; `availableMiB` of 1000 are left. */
function busy(now: number, availableMiB: number, pods: readonly NodePod[] = [hog, burner]): Moment {
  return { now, availableMiB, pods, snapshot: { stalls: CPU_BUSY, cpu: { availableCores: 0.02, cores: 2 } } };
}

const withCpu = (mode: 'DryRun' | 'Enforce') =>
  policy({
    stallRules: DEFAULT_STALL_RULES.map((rule) => (rule.signal === 'cpu.pressure' ? { ...rule, mode } : rule)),
  });

describe('modes and resources are independent', () => {
  test('a dry-run CPU eviction neither occupies a slot nor counts as freed memory', () => {
    const moments = [busy(0, 900), busy(GRACE_MS, 900), busy(GRACE_MS + 100, 45)];
    expect(whoWent(moments)).toEqual([[], ['burner (dry run)'], ['hog']]);
  });

  test('a pod with a dry-run eviction may be evicted', () => {
    const moments = [busy(0, 900, [burner]), busy(GRACE_MS, 900, [burner]), busy(GRACE_MS + 100, 45, [burner])];
    expect(whoWent(moments)).toEqual([[], ['burner (dry run)'], ['burner']]);
  });

  test('dry-run evictions count in no window of enforced ones', () => {
    const rules = withCpu('DryRun');
    const limits = { ...rules.limits, perMinute: 1, perTenMinutes: 1, perNamespacePerTenMinutes: 1 };
    const moments = [busy(0, 900), busy(GRACE_MS, 900), busy(GRACE_MS + 1000, 45)];
    expect(whoWent(moments, { ...rules, limits })).toEqual([[], ['burner (dry run)'], ['hog']]);
  });

  test('evicts in the next pass after a change from DryRun to Enforce during a shortage', () => {
    const at = (now: number): Moment => ({ now, availableMiB: 50, pods: [hog] });
    const moments = [
      { ...at(0), policy: policy({ mode: 'DryRun' }) },
      { ...at(1000), policy: policy() },
    ];
    expect(whoWent(moments)).toEqual([['hog (dry run)'], ['hog']]);
  });

  test('a dry run respects enforced evictions in flight', () => {
    const terminating = { ...hog, deletion: { at: 0, gracePeriodSeconds: 1 } };
    const moments: Moment[] = [
      { now: 0, availableMiB: 50, pods: [hog, burner] },
      { now: 500, availableMiB: 50, pods: [terminating, burner], policy: policy({ mode: 'DryRun' }) },
    ];
    expect(whoWent(moments)).toEqual([['hog'], []]);
  });

  test('CPU evicts when the policy and its cpu.mode both enforce, by CPU above the request', () => {
    const moments = [busy(0, 900), busy(GRACE_MS - 1, 900), busy(GRACE_MS, 900)];
    expect(whoWent(moments, withCpu('Enforce'))).toEqual([[], [], ['burner']]);
    expect(whoWent(moments, { ...withCpu('Enforce'), mode: 'DryRun' })).toEqual([[], [], ['burner (dry run)']]);
    expect(whoWent(moments, withCpu('DryRun'))).toEqual([[], [], ['burner (dry run)']]);
  });

  test('a real CPU eviction is no relief for memory and does not stop its severe stage', () => {
    const terminating = { ...burner, deletion: { at: 0, gracePeriodSeconds: 30 } };
    for (const laterMs of [1000, 28_000]) {
      const moments = [busy(0, 900), busy(GRACE_MS, 900), busy(GRACE_MS + laterMs, 45, [hog, terminating])];
      expect(whoWent(moments, withCpu('Enforce'))).toEqual([[], ['burner'], ['hog']]);
    }
  });

  test('evictions for CPU count in no window of those for memory', () => {
    const limits = { ...DEFAULT_LIMITS, perMinute: 1, perTenMinutes: 1, perNamespacePerTenMinutes: 1 };
    const moments = [busy(0, 900), busy(GRACE_MS, 900), busy(GRACE_MS + 50_000, 45, [hog])];
    expect(whoWent(moments, { ...withCpu('Enforce'), limits })).toEqual([[], ['burner'], ['hog']]);
  });

  test('a shortage without an eligible pod hides no other shortage', () => {
    const parsed = parseThresholds({ evictionHard: { 'memory.available': '100Mi', 'pid.available': '100' } });
    const rules = policy({ thresholds: parsed.ok ? parsed.thresholds : [] });
    const forker: NodePod = { name: 'forker', usageMiB: 10, processCount: 800 };
    const terminating: NodePod = { ...hog, deletion: { at: 0, gracePeriodSeconds: 1 } };
    const processes = { at: 0, maximum: 1000, running: 950 };
    const readings = { ...memoryReadings(90, 1000, 0), processes };
    const { steps } = runEpisode([{ now: 0, pods: [terminating, forker], snapshot: { readings } }], rules);
    expect(steps.map(({ evictions }) => evictions.map(({ pod, signal }) => [pod.name, signal]))).toEqual([
      [['forker', 'pid.available']],
    ]);
  });

  test('memory stalls evict no pod while a memory threshold is met and terminating pods free enough', () => {
    const stalls = MEMORY_STALLS;
    const terminating: NodePod = { ...hog, deletion: { at: 0, gracePeriodSeconds: 1 } };
    expect(
      whoWent([{ now: 0, availableMiB: 45, pods: [terminating, burner], snapshot: { stalls, reclaim: IN_VAIN } }]),
    ).toEqual([[]]);
  });

  test('a dry-run eviction restarts no window of a rule that enforces', () => {
    const rules = policy({ thresholds: [] });
    const snapshot = { stalls: MEMORY_STALLS, reclaim: IN_VAIN };
    const moments: Moment[] = [
      { now: 0, availableMiB: 90, pods: [hog], snapshot, policy: { ...rules, mode: 'DryRun' } },
      { now: 1000, availableMiB: 90, pods: [hog], snapshot, policy: rules },
    ];
    expect(whoWent(moments)).toEqual([['hog (dry run)'], ['hog']]);
  });

  test('a dry-run threshold restarts no window of an enforcing rule of the same resource', () => {
    const usual = policy();
    const rules = { ...usual, thresholdModes: new Map(usual.thresholds.map(({ id }) => [id, 'DryRun' as const])) };
    const snapshot = { stalls: MEMORY_STALLS, reclaim: IN_VAIN };
    const moments: Moment[] = [0, 1000].map((now) => ({
      now,
      availableMiB: 45,
      pods: [hog],
      ...(now > 0 && { snapshot }),
    }));
    expect(whoWent(moments, rules)).toEqual([['hog (dry run)'], ['hog']]);
  });

  test('an enforced eviction restarts the windows of its own resource in both modes, and of no other', () => {
    const snapshot = { stalls: MEMORY_STALLS, reclaim: IN_VAIN };
    const again: Moment = { now: GRACE_MS + 20_000, availableMiB: 90, pods: [hog], snapshot };
    expect(whoWent([busy(0, 900), busy(GRACE_MS, 900), again], withCpu('Enforce'))).toEqual([[], ['burner'], ['hog']]);
    const rules = policy({ thresholds: [] });
    const first: Moment = { now: 0, availableMiB: 90, pods: [hog, burner], snapshot };
    for (const [mode, whoGoes] of Object.entries({ Enforce: 'burner', DryRun: 'burner (dry run)' })) {
      const changed = { ...rules, mode: mode as AgentPolicy['mode'] };
      const later = [20_000, 79_900, 80_000].map((now) => ({ ...again, now, pods: [burner], policy: changed }));
      expect(whoWent([first, ...later], rules)).toEqual([['hog'], [], [], [whoGoes]]);
    }
  });

  test('a disk threshold evicts no pod and is left to the kubelet', () => {
    const parsed = parseThresholds({ evictionHard: { 'nodefs.available': '10%', 'nodefs.inodesFree': '10%' } });
    const full = { at: 0, availableBytes: 1, capacityBytes: 100, inodesFree: 1, inodes: 100 };
    const readings = { ...memoryReadings(500, 1000, 0), nodeFilesystem: full, imageFilesystem: full };
    const rules = policy({ thresholds: parsed.ok ? parsed.thresholds : [] });
    const { steps, state } = runEpisode([{ now: 0, pods: [hog], snapshot: { readings } }], rules);
    expect(steps).toMatchObject([{ evicted: [], closedGates: [] }]);
    expect(state.pressure.conditions).toEqual(['DiskPressure']);
  });

  test('a stall rule in dry run hides no other that enforces', () => {
    const [memoryRule, cpuRule] = DEFAULT_STALL_RULES;
    if (memoryRule === undefined || cpuRule === undefined) throw new Error('there are two rules');
    const rules = policy({ thresholds: [], stallRules: [{ ...cpuRule, gracePeriodMs: 0 }, memoryRule] });
    const snapshot = { ...busy(0, 90).snapshot, stalls: [...CPU_BUSY, ...MEMORY_STALLS], reclaim: IN_VAIN };
    const both: Moment = { ...busy(0, 90), snapshot };
    expect(whoWent([both], rules)).toEqual([['hog', 'burner (dry run)']]);
  });
});

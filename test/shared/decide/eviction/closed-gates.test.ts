import { describe, expect, test } from 'vitest';
import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { indexPods, type NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { applyOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import { nodePod, because, snapshot, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';
import { hog, small, run, evicted } from './run-scenes.ts';

describe('decide, behind closed gates', () => {
  const scene: Scene = { now: 0, availableMiB: 10, pods: [hog] };

  test.each<[code: string, change: Partial<NodeSnapshot>]>([
    ['WarmingUp', { closedGates: [because('WarmingUp')] }],
    ['SourcesDisagree', { doubts: new Map([['memory.available', because('SourcesDisagree')]]) }],
  ])('%s', (code, change) => {
    expect(run([{ ...scene, snapshot: change }]).steps).toEqual([{ evicted: [], closedGates: [code] }]);
  });

  test('a signal that could not be read causes no eviction', () => {
    expect(run([{ now: 0, availableMiB: undefined, pods: [hog] }]).steps).toEqual([{ evicted: [], closedGates: [] }]);
  });

  test('the same measurement is not acted on twice', () => {
    const stale = { ...scene, snapshot: { readings: snapshot({ now: 0, availableMiB: 10 }).readings } };
    const rules = policy({ limits: { concurrent: 5, perMinute: 5, perTenMinutes: 5, perNamespacePerTenMinutes: 5 } });
    const twins = [hog, { ...hog, name: 'hog-2' }];
    const scenes = [0, 5000].map((now) => ({ ...stale, now, pods: now === 0 ? [hog] : twins }));
    expect(evicted(scenes, rules)).toEqual([['hog'], []]);
  });

  test('a limit of 0 means none, not unlimited', () => {
    for (const key of ['concurrent', 'perMinute', 'perTenMinutes', 'perNamespacePerTenMinutes'] as const) {
      const limits = { ...policy().limits, [key]: 0 };
      expect(evicted([scene], policy({ limits }))).toEqual([[]]);
    }
  });

  test('the node’s limits apply to every minute and every ten minutes', () => {
    const pods = Array.from({ length: 20 }, (_, index) => ({
      ...small,
      usageMiB: 20,
      name: `p${String(index).padStart(2, '0')}`,
    }));
    const rules = policy({ limits: { concurrent: 1, perMinute: 2, perTenMinutes: 3, perNamespacePerTenMinutes: 9 } });
    let left = pods;
    const times: number[] = [];
    let state = FIRST_STATE;
    for (let now = 0; now < 700_000; now += 1000) {
      const decision = decide(
        state,
        snapshot({ now, availableMiB: 10 + 20 * (20 - left.length) - 20 * times.length + now / 1e6, pods: left }),
        rules,
      );
      state = decision.state;
      for (const { pod, mode } of decision.evictions) {
        times.push(now);
        state = applyOutcome(state, { uid: pod.uid, mode }, { kind: 'evicted' }, now);
        left = left.filter(({ name }) => name !== pod.name);
      }
    }
    for (const start of times) {
      expect(times.filter((at) => at >= start && at - start < 60_000).length).toBeLessThanOrEqual(2);
      expect(times.filter((at) => at >= start && at - start < 600_000).length).toBeLessThanOrEqual(3);
    }
    expect(times.length).toBeGreaterThan(1);
  });

  test('two evictions without relief stop the agent for ten minutes', () => {
    const pods = ['a', 'b', 'c'].map((name) => ({ ...small, name }));
    const rules = policy({ limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 } });
    const scenes: Scene[] = [
      { now: 0, availableMiB: 50, pods },
      { now: 1000, availableMiB: 50, pods: pods.slice(1) },
      { now: 3100, availableMiB: 50, pods: pods.slice(1) },
      { now: 4000, availableMiB: 50, pods: pods.slice(2) },
      { now: 6100, availableMiB: 50, pods: pods.slice(2) },
      { now: 600_000, availableMiB: 50, pods: pods.slice(2) },
      { now: 606_200, availableMiB: 50, pods: pods.slice(2) },
    ];
    const { steps } = run(scenes, rules);
    expect(steps.map((step) => step.evicted)).toEqual([['a'], [], ['b'], [], [], [], ['c']]);
    expect(steps.map((step) => step.closedGates)).toEqual([
      [],
      ['AwaitingRelief'],
      [],
      ['AwaitingRelief'],
      ['Ineffective'],
      ['Ineffective'],
      [],
    ]);
  });

  test('does not wait forever for relief that can never be measured', () => {
    const pods = ['a', 'b'].map((name) => ({ ...small, name }));
    const blind = (now: number): Scene => ({ now, availableMiB: undefined, pods: pods.slice(1) });
    const scenes: Scene[] = [
      { now: 0, availableMiB: 50, pods },
      blind(1000),
      blind(61_000),
      { now: 61_500, availableMiB: 50, pods: pods.slice(1) },
    ];
    expect(evicted(scenes)).toEqual([['a'], [], [], ['b']]);
  });

  test('pid.available ranks and measures relief by processes', () => {
    const parsed = parseThresholds({ evictionHard: { 'pid.available': '100' } });
    const rules = policy({
      thresholds: parsed.ok ? parsed.thresholds : [],
      limits: { concurrent: 1, perMinute: 9, perTenMinutes: 9, perNamespacePerTenMinutes: 9 },
    });
    const forker = (name: string, processCount: number): NodePod => ({ ...small, name, processCount });
    const at = (now: number, running: number, pods: readonly NodePod[]): Scene => ({
      now,
      pods,
      snapshot: { readings: { ...snapshot({ now }).readings, processes: { at: now, maximum: 1000, running } } },
    });
    const pods = [forker('few', 10), forker('many', 400), forker('more', 500)];
    const scenes = [
      at(0, 950, pods),
      at(1000, 910, pods.slice(0, 2)),
      at(3000, 910, pods.slice(0, 2)),
      at(4000, 905, pods.slice(0, 1)),
      at(6000, 905, pods.slice(0, 1)),
    ];
    expect(run(scenes, rules).steps.map((step) => [step.evicted, step.closedGates])).toEqual([
      [['more'], []],
      [[], ['AwaitingRelief']],
      [['many'], []],
      [[], ['AwaitingRelief']],
      [[], ['Ineffective']],
    ]);
  });

  /** A pass in which the kubelet has evicted a pod for the resource; in the mild stage half a minute earlier as well. */
  function afterKubelet(
    resource: StarvedResource,
    availableMiB: number,
    times: readonly number[],
    endedAt?: number,
  ): readonly string[] {
    const victim = { uid: 'victim', resource, ...(endedAt !== undefined && { at: endedAt }) };
    const ended = { endedByKubelet: [victim], unreadable: [] };
    const pods = indexPods([rankingFacts(nodePod(hog))], ended);
    const at = (now: number, index: number): Scene => ({
      ...scene,
      now,
      availableMiB,
      pods: [hog],
      ...(index === 0 ? {} : { snapshot: { pods } }),
    });
    const { steps } = run([-30_001, ...times].map(at));
    return steps.slice(1).map(({ evicted, closedGates }) => evicted[0] ?? closedGates.join(','));
  }

  test('waits after the kubelet has evicted a pod for the same resource', () => {
    expect(afterKubelet('memory', 150, [0, 30_000, 30_001])).toEqual(['KubeletActs', 'KubeletActs', 'hog']);
    expect(afterKubelet('ephemeral-storage', 150, [0])).toEqual(['hog']);
  });

  test('counts from the end of its victim, which a stalled watch may show late, and never from later than now', () => {
    expect(afterKubelet('memory', 150, [0, 10_000, 10_001], -20_000)).toEqual(['KubeletActs', 'KubeletActs', 'hog']);
    expect(afterKubelet('memory', 150, [0], -40_000)).toEqual(['hog']);
    expect(afterKubelet('memory', 150, [0, 30_001], 60_000)).toEqual(['KubeletActs', 'hog']);
  });

  test('waits in the mild stage after the kernel has ended a shortage by a kill, not after other kills', () => {
    const killed = (leastMiB: number): readonly string[] => {
      const at = (now: number, availableMiB: number, oomKills: number): Scene => ({
        now,
        availableMiB,
        pods: [hog],
        snapshot: { oomKills, pods: indexPods([rankingFacts({ ...nodePod(hog), namespace: 'kube-system' })]) },
      });
      const open = (now: number): Scene => ({ ...at(now, 150, 1), snapshot: { oomKills: 1 } });
      const moments = [at(0, 150, 0), at(40_000, leastMiB, 0), at(40_100, 150, 1), open(45_000), open(50_100)];
      return run(moments)
        .steps.slice(-2)
        .map(({ evicted: [name], closedGates }) => name ?? closedGates.join(','));
    };
    expect(killed(10)).toEqual(['KernelActs', 'hog']);
    expect(killed(150)).toEqual(['hog', 'Outstanding,EnoughEnding']);
  });

  test('waits for two seconds in the severe stage', () => {
    const ended = { endedByKubelet: [{ uid: 'victim', resource: 'memory' as const }], unreadable: [] };
    const pods = indexPods([rankingFacts(nodePod(hog))], ended);
    const at = (now: number): Scene => ({ ...scene, now, pods: [hog], snapshot: { pods } });
    expect(run([at(0), at(2000), at(2001)]).steps.map(({ evicted }) => evicted)).toEqual([[], [], ['hog']]);
  });
});

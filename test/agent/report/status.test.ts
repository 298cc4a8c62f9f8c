import { describe, expect, test } from 'vitest';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide, type EvictionRecord, type PassResult } from '#shared/decide/eviction/decide.ts';
import { indexPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { noteRequest } from '#agent/report/reporter.ts';
import { nodePressureStatus } from '#agent/report/node-pressure-status.ts';
import { encodeStatus, type NodePressureStatus } from '#shared/api/node-pressure.ts';
import { pressureConditions } from '#agent/report/pressure-conditions.ts';
import { STILL_WINDOW_MS, type StallRatio } from '#shared/api/node-pressure-policy/policy.ts';
import { because, snapshot, MIB, type NodePod, policy, type Scene } from '#test/agent/node-scene.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { CONDITIONS, OWN_LIMITS } from '#agent/messages.ts';

const NO_DOUBTS = { sources: undefined, policies: { count: 0, problem: undefined } };

function result(scene: Scene): PassResult {
  const seen = snapshot(scene);
  const rules = policy();
  return {
    snapshot: seen,
    policy: rules,
    decision: decide(FIRST_STATE, seen, rules),
  };
}

function statusOf(
  scene: Scene,
  previous?: NodePressureStatus,
  records: readonly EvictionRecord[] = [],
): NodePressureStatus {
  return nodePressureStatus(result(scene), {
    agent: { version: '1', pod: 'agent-x' },
    records,
    doubts: NO_DOUBTS,
    wallOffsetMs: Date.UTC(2026, 0, 1),
    generation: 3,
    previous,
  });
}

const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const quiet: NodePod = { name: 'quiet', priority: 10, requests: { memory: '100Mi' }, usageMiB: 50 };

describe('nodePressureStatus', () => {
  test('reports what is measured, the next candidates and why', () => {
    expect(encodeStatus(statusOf({ now: 1000, availableMiB: 500, pods: [quiet, hog] }))).toMatchObject({
      observedAt: '2026-01-01T00:00:01.000Z',
      observedGeneration: 3,
      mode: 'Enforce',
      policy: 'default',
      conditions: [
        { type: 'Memory', status: 'False', reason: 'NoPressure' },
        { type: 'Cpu', status: 'Unknown', reason: 'NotMeasured' },
        { type: 'Io', status: 'Unknown' },
        { type: 'Disk', status: 'Unknown' },
        { type: 'Pid', status: 'Unknown' },
        { type: 'SourcesAgree', status: 'True' },
        { type: 'PodsMeasured', status: 'True', reason: 'Measured' },
        { type: 'FiguresAgree', status: 'Unknown', reason: 'NotCompared' },
        { type: 'PoliciesRead', status: 'True' },
        { type: 'PodsRead', status: 'True' },
        { type: 'RulesConfirmed', status: 'True' },
        { type: 'EvictionsCarriedOut', status: 'True', reason: 'NoneStuck' },
      ],
      signals: [{ name: 'memory.available', available: '500Mi', capacity: '1000Mi', threshold: '200Mi', state: 'Far' }],
      next: [
        {
          pod: 'default/hog',
          uid: 'uid-hog',
          priority: 0,
          usage: '500Mi',
          request: '100Mi',
          because: { code: 'Ranked' },
        },
        { pod: 'default/quiet', usage: '50Mi' },
      ],
      evictions: [],
    });
  });

  test('reports whether each rule may act, and no rules before they are known', () => {
    const { rules } = statusOf({ now: 1000, availableMiB: 500 });
    expect(rules?.[0]).toEqual({
      rule: expect.any(String) as string,
      confirmed: true,
      mode: 'Enforce',
      policy: 'default',
      generation: 0,
    });
    const closedGates = [because('WarmingUp')];
    expect(statusOf({ now: 1000, availableMiB: 500, snapshot: { closedGates } }).rules).toBeUndefined();
  });

  test('names a rule that was met when it came into force in the condition RulesConfirmed', () => {
    const seen = snapshot({ now: 1000, availableMiB: 150 });
    const decision = decide({ ...FIRST_STATE, activations: new Map() }, seen, policy());
    const shown = pressureConditions({ snapshot: seen, policy: policy(), decision }, NO_DOUBTS);
    expect(shown.find(({ type }) => type === 'RulesConfirmed')).toMatchObject({
      status: 'False',
      reason: 'MetOnArrival',
    });
  });

  test('reports that a pod is at its own limit, and ranks it no differently', () => {
    const podPressure = { waiting: { memory: 0.9 }, stalled: {}, limitHits: 700, limitHitsPerSecond: 5 };
    const scene = {
      now: 1000,
      availableMiB: 500,
      pods: [quiet, hog],
      snapshot: { podPressures: new Map([['uid-quiet', podPressure]]) },
    };
    const { next } = statusOf(scene);
    expect(next.map(({ pod }) => pod)).toEqual(['default/hog', 'default/quiet']);
    expect(next[1]?.because).toMatchObject({
      text: expect.stringContaining(OWN_LIMITS.memory(5)) as string,
      facts: { memoryWaiting: 0.9, memoryLimitHits: 700 },
    });
  });

  test.each<[availableMiB: number, state: string]>([
    [301, 'Far'],
    [299, 'Near'],
    [199, 'Soft'],
    [49, 'Hard'],
  ])('%d MiB of 1000 is %s', (availableMiB, state) => {
    expect(statusOf({ now: 0, availableMiB }).signals[0]?.state).toBe(state);
  });

  test('shows the kubelet’s memory figure and the one that decides', () => {
    const { signals, conditions } = statusOf({ now: 0, availableMiB: 50, reclaimableMiB: 900 });
    expect(signals[0]).toMatchObject({ available: '50Mi', reclaimable: '900Mi', figure: 'Reclaimable', state: 'Far' });
    expect(conditions.find(({ type }) => type === 'FiguresAgree')).toMatchObject({
      status: 'False',
      reason: 'KubeletCountsCacheAsUsed',
    });
    const close = statusOf({ now: 0, availableMiB: 500, reclaimableMiB: 510 }).conditions;
    expect(close.find(({ type }) => type === 'FiguresAgree')).toMatchObject({ status: 'True', reason: 'NoGap' });
    const [unknown] = statusOf({ now: 0, availableMiB: 50 }).signals;
    expect(unknown).toMatchObject({ reclaimable: undefined, figure: undefined });
  });

  test('does not claim that policies were read before they were', () => {
    const closedGates = [REASONS.policiesUnknown({})];
    const { conditions } = statusOf({ now: 0, availableMiB: 500, snapshot: { closedGates } });
    expect(conditions.find(({ type }) => type === 'PoliciesRead')).toMatchObject({
      status: 'Unknown',
      reason: 'PoliciesUnknown',
    });
  });

  test('reports unreadable pods in a condition', () => {
    const unreadable = ['the first', 'the second'];
    const scene = { now: 0, availableMiB: 500, snapshot: { pods: indexPods([], { endedByKubelet: [], unreadable }) } };
    expect(statusOf(scene).conditions.find(({ type }) => type === 'PodsRead')).toMatchObject({
      status: 'False',
      reason: 'PodUnreadable',
      message: CONDITIONS.podsUnread('the first', 1),
    });
  });

  test('waiting for memory raises the condition, whatever is left of it', () => {
    const stalls: readonly StallRatio[] = [STILL_WINDOW_MS, 10_000, 60_000].map((windowMs) => ({
      signal: 'memory.pressure',
      share: 'full',
      windowMs,
      ratio: 0.9,
    }));
    const reclaim = { scanned: 100 * MIB, stolen: 50 * MIB, refaulted: 0, swappedIn: 0 };
    const condition = (stalled: NonNullable<Scene['snapshot']>) => {
      const seen = snapshot({ now: 0, availableMiB: 90, pods: [hog], snapshot: stalled });
      const rules = policy({ thresholds: [] });
      return pressureConditions(
        { snapshot: seen, policy: rules, decision: decide(FIRST_STATE, seen, rules) },
        NO_DOUBTS,
      )[0];
    };
    expect(condition({ stalls, reclaim })).toMatchObject({ type: 'Memory', status: 'True', reason: 'Pressure' });
    expect(condition({ stalls })).toMatchObject({ type: 'Memory', status: 'False' });
  });

  test('reports in the condition that no pod may be evicted', () => {
    const pods = [{ ...hog, namespace: 'kube-system' }];
    expect(statusOf({ now: 0, availableMiB: 50, pods }).conditions[0]).toMatchObject({
      type: 'Memory',
      status: 'True',
      reason: 'NoEligiblePod',
      message: CONDITIONS.heldBack(
        REASONS.thresholdMet({
          signal: 'memory.available',
          isHard: true,
          available: '50Mi',
          kubeletAvailable: undefined,
          needed: '100Mi',
        }).text,
        REASONS.noEligiblePod({
          reasons: '1 ProtectedNamespace',
          held: { pod: 'kube-system/hog', why: 'the pod is in the protected namespace kube-system' },
        }).text,
      ),
    });
  });

  test.each(['WarmingUp', 'ApiServerSilent'])('names in the condition the gate that holds: %s', (code) => {
    const gates = { closedGates: [because(code)] };
    const shown = statusOf({ now: 0, availableMiB: 50, pods: [hog], snapshot: gates }).conditions[0];
    expect(shown).toMatchObject({ type: 'Memory', status: 'True', reason: code });
    expect(shown?.message).toContain(code);
  });

  test.each<[availableCores: number, state: string]>([
    [1, 'Far'],
    [0.25, 'Near'],
    [0.05, 'Soft'],
  ])('%d of 2 cores idle is %s, shown in cores', (availableCores, state) => {
    const { signals } = statusOf({ now: 0, availableMiB: 500, snapshot: { cpu: { availableCores, cores: 2 } } });
    expect(signals[1]).toMatchObject({
      name: 'cpu.available',
      available: availableCores === 1 ? '1' : `${availableCores * 1000}m`,
      capacity: '2',
      threshold: '100m',
      state,
    });
  });

  test('what did not change keeps its times', () => {
    const first = statusOf({ now: 0, availableMiB: 500 });
    const second = statusOf({ now: 5000, availableMiB: 480 }, first);
    expect(second.signals[0]?.since).toBe(first.signals[0]?.since);
    expect(second.conditions).toEqual(first.conditions);
    const third = statusOf({ now: 9000, availableMiB: 50 }, second);
    const changedAt = Date.UTC(2026, 0, 1, 0, 0, 9);
    expect(third.signals[0]?.since).toBe(changedAt);
    expect(third.conditions[0]).toMatchObject({ status: 'True', lastTransitionTime: changedAt });
    expect(third.conditions[1]).toEqual(second.conditions[1]);
  });

  test('stays below 32 KiB on a full node', () => {
    const pods = Array.from({ length: 500 }, (_, index) => ({
      ...hog,
      name: `a-rather-long-name-of-a-pod-that-is-not-unusual-${index}`,
    }));
    const decision = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 10, pods }), policy());
    let records: readonly EvictionRecord[] = [];
    for (let count = 0; count < 50; count += 1)
      for (const eviction of decision.evictions) records = noteRequest(records, eviction, 0);
    const status = statusOf({ now: 0, availableMiB: 10, pods }, undefined, records);
    expect(status.next.length).toBe(10);
    expect(status.evictions.length).toBe(20);
    expect(JSON.stringify(encodeStatus(status)).length).toBeLessThan(32 * 1024);
  });
});

describe('texts of a tenant', () => {
  const record = (owner: string, uid?: string): EvictionRecord => ({
    pod: { namespace: 'team', name: 'web', uid: 'u-1' },
    owner: { namespace: 'team', kind: 'ReplicaSet', name: owner.slice('team/ReplicaSet/'.length), uid },
    signal: 'memory.available',
    stage: 'severe',
    mode: 'Enforce',
    outcome: 'evicted',
    requestedAt: 0,
    endedAt: undefined,
    because: { code: 'OwnerLimit', text: `pods of ${owner}`, facts: { owner, count: 3 } },
  });
  const entryOf = (owner: string, uid?: string) =>
    statusOf({ now: 0, availableMiB: 1000 }, undefined, [record(owner, uid)]).evictions[0];

  test('an owner whose name is longer than the definition allows is left out, and its reason is cut', () => {
    const entry = entryOf(`team/ReplicaSet/${'x'.repeat(4_000)}`);
    expect(entry).toMatchObject({ owner: undefined });
    expect(entry?.because.text).toHaveLength(1_024);
    expect(String(entry?.because.facts['owner'])).toHaveLength(253);
    expect(entry?.because.facts['count']).toBe(3);
  });

  test('a UID that is longer than the definition allows is left out', () => {
    expect(entryOf('team/ReplicaSet/web', 'x'.repeat(129))?.owner).toMatchObject({ name: 'web', uid: undefined });
  });

  test('others stay as they are', () => {
    expect(entryOf('team/ReplicaSet/web', 'u-web')).toMatchObject({
      owner: { namespace: 'team', kind: 'ReplicaSet', name: 'web', uid: 'u-web' },
      because: { text: 'pods of team/ReplicaSet/web', facts: { owner: 'team/ReplicaSet/web' } },
    });
  });
});

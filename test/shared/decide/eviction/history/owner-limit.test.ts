import { describe, expect, test } from 'vitest';
import { HOUR_MS } from '#shared/domain/base/durations.ts';
import { createReporter } from '#agent/report/reporter.ts';
import { type AgentState, FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import type { InflightEviction } from '#shared/decide/eviction/history/inflight-eviction.ts';
import type { EvictionState, PastEviction } from '#shared/decide/eviction/history/eviction-state.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import { snapshot, MIB, type NodePod, policy } from '#test/agent/node-scene.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { EVENTS } from '#agent/messages.ts';

const LEAKING = 'default/ReplicaSet/leaking';
const NOW = 2 * HOUR_MS;
const leaking: NodePod = { name: 'leaking-1', owner: 'leaking', requests: { memory: '100Mi' }, usageMiB: 500 };
const above: NodePod = { name: 'above', owner: 'above', requests: { memory: '100Mi' }, usageMiB: 150 };
const within: NodePod = { name: 'within', owner: 'within', requests: { memory: '300Mi' }, usageMiB: 150 };

function lost(count: number, change: Partial<PastEviction> = {}): readonly PastEviction[] {
  return Array.from({ length: count }, (_, index) => ({
    at: NOW - HOUR_MS + 1 + index,
    uid: `u${index}`,
    namespace: 'other',
    owner: LEAKING,
    resource: 'memory' as const,
    ...change,
  }));
}

interface Case {
  readonly past?: readonly PastEviction[];
  readonly inflight?: EvictionState['inflight'];
  readonly pods?: readonly NodePod[];
  readonly rules?: Partial<AgentPolicy>;
  readonly availableMiB?: number;
  readonly trend?: AgentState['trend'];
  readonly growth?: AgentState['growth'];
}

const LIMITS = { concurrent: 9, perMinute: 9, perTenMinutes: 99, perNamespacePerTenMinutes: 99 };

function result({
  past = [],
  inflight = [],
  pods = [leaking, above, within],
  rules,
  availableMiB = 50,
  trend,
  growth = [],
}: Case): PassResult {
  const inForce = policy({ limits: { ...LIMITS, concurrent: 1 }, ...rules });
  const seen = snapshot({ now: NOW, availableMiB, pods });
  const evictions = { ...FIRST_STATE.evictions, Enforce: { ...FIRST_STATE.evictions.Enforce, past, inflight } };
  return {
    snapshot: seen,
    policy: inForce,
    decision: decide({ ...FIRST_STATE, evictions, trend, growth }, seen, inForce),
  };
}

/** Asked for at this moment and not answered yet. */
function asking(change: Partial<InflightEviction>): InflightEviction {
  return {
    uid: 'asked',
    namespace: 'default',
    name: 'asked',
    owner: LEAKING,
    signal: 'memory.available',
    stage: 'severe',
    mode: 'Enforce',
    phase: 'asking',
    requestedAt: NOW,
    graceSeconds: 1,
    expected: 0,
    shortage: undefined,
    othersUsed: 0,
    releasedAt: undefined,
    isShortened: false,
    ...change,
  };
}

function whoGoes(given: Case): readonly string[] {
  return result(given).decision.evictions.map(({ pod }) => pod.name);
}

/** Who would go next, as the status says. */
function candidatesOf(given: Case): readonly string[] {
  return result(given)
    .decision.assessment.candidates()
    .map(({ facts }) => facts.pod.name);
}

function closedGates(given: Case): readonly string[] {
  return result(given).decision.assessment.closedGates.map(({ code }) => code);
}

describe('an owner whose pods are evicted again and again', () => {
  test('loses three pods in an hour, then no smaller pod is evicted in their place', () => {
    expect(whoGoes({ past: lost(2) })).toEqual(['leaking-1']);
    expect(whoGoes({ past: lost(3) })).toEqual([]);
    expect(closedGates({ past: lost(3) })).toEqual(['NoEligiblePod', 'OwnerLimit']);
  });

  const hog: NodePod = { name: 'hog', owner: 'hog', priority: 5, requests: { memory: '100Mi' }, usageMiB: 600 };

  test('does not protect another owner’s pod that exceeds its request by more', () => {
    expect(whoGoes({ past: lost(3), pods: [leaking, hog, within] })).toEqual(['hog']);
    expect(whoGoes({ past: lost(3), pods: [leaking, { ...hog, usageMiB: 500 }, within] })).toEqual([]);
    const larger = { ...hog, name: 'larger', owner: 'larger', priority: 6, usageMiB: 900 };
    expect(whoGoes({ past: lost(3), pods: [leaking, larger, hog, above] })).toEqual(['hog']);
  });

  test('never causes the eviction of a pod within its request', () => {
    const large: NodePod = { name: 'large', owner: 'large', requests: { memory: '900Mi' }, usageMiB: 850 };
    expect(whoGoes({ past: lost(3), pods: [{ ...leaking, usageMiB: 101 }, large] })).toEqual([]);
    expect(
      whoGoes({
        past: lost(3),
        pods: [
          { ...leaking, usageMiB: 20 },
          { ...large, priority: 9 },
        ],
      }),
    ).toEqual([]);
  });

  test('loses its limit once the kernel would kill before the kubelet acts', () => {
    const racing: AgentState['trend'] = { at: NOW, available: 50 * MIB, fillRate: (13 * MIB) / 1000, lastingRate: 0 };
    const slower = { ...racing, fillRate: (12 * MIB) / 1000 };
    expect(whoGoes({ past: lost(3), trend: racing })).toEqual(['leaking-1']);
    expect(whoGoes({ past: lost(3), trend: slower })).toEqual([]);
    expect(whoGoes({ rules: { perOwnerPerHour: 0 }, trend: racing })).toEqual([]);
  });

  test('loses further ones after the hour', () => {
    expect(whoGoes({ past: lost(3, { at: NOW - HOUR_MS }) })).toEqual(['leaking-1']);
  });

  test('loses as many pods as the policy allows, none with 0', () => {
    expect(whoGoes({ past: lost(8), rules: { perOwnerPerHour: 9 } })).toEqual(['leaking-1']);
    expect(whoGoes({ rules: { perOwnerPerHour: 0 } })).toEqual([]);
  });

  test('is charged for this resource alone, and for itself alone', () => {
    expect(whoGoes({ past: lost(9, { resource: 'cpu' }) })).toEqual(['leaking-1']);
    expect(whoGoes({ past: lost(9, { owner: 'default/ReplicaSet/above' }) })).toEqual(['leaking-1']);
  });

  test('has its pods counted that go at the same moment', () => {
    const siblings = [1, 2, 3, 4].map((index) => ({
      ...leaking,
      name: `leaking-${index}`,
      requests: { memory: '10Mi' },
      usageMiB: 20 + 5 * index,
    }));
    const given = { pods: siblings, rules: { limits: LIMITS }, availableMiB: 1 };
    expect(whoGoes(given)).toEqual(['leaking-4', 'leaking-3', 'leaking-2']);
    expect(whoGoes({ ...given, past: lost(2) })).toEqual(['leaking-4']);
  });

  test.each<[what: string, inflight: Partial<InflightEviction>, names: readonly string[]]>([
    ['of it', {}, []],
    ['of another owner', { owner: 'default/ReplicaSet/above' }, ['leaking-1']],
    ['for another resource', { signal: 'pid.available' }, ['leaking-1']],
  ])('counts a pod %s that is being evicted now', (_, change, names) => {
    const rules = { limits: LIMITS };
    expect(whoGoes({ past: lost(2), inflight: [asking(change)], rules, pods: [leaking] })).toEqual(names);
  });

  test.each<[what: string, inflight: Partial<InflightEviction>, names: readonly string[]]>([
    ['of the namespace', {}, []],
    ['of another namespace', { namespace: 'other' }, ['leaking-1']],
    ['for another resource', { signal: 'pid.available' }, ['leaking-1']],
  ])('a namespace counts a pod %s that is being evicted now', (_, change, names) => {
    const rules = { limits: { ...LIMITS, perNamespacePerTenMinutes: 1 } };
    const inflight = [asking({ owner: undefined, ...change })];
    expect(whoGoes({ inflight, rules, pods: [leaking] })).toEqual(names);
  });

  test('does not limit a pod without a controller', () => {
    expect(whoGoes({ past: lost(3), pods: [{ ...leaking, name: 'alone', owner: undefined as never }] })).toEqual([
      'alone',
    ]);
  });

  test('does not protect pods that rank before it', () => {
    expect(whoGoes({ past: lost(3), pods: [leaking, { ...above, priority: -1 }] })).toEqual(['above']);
  });
});

describe('a pod that came in place of an evicted one', () => {
  const EVICTED = NOW - 60_000;
  const past = lost(1, { at: EVICTED });
  /** The kubelet evicts it before the hog, by its priority. */
  const returned: NodePod = { ...leaking, priority: -1, cameAt: EVICTED + 1000, usageMiB: 150 };
  const hog: NodePod = { name: 'hog', namespace: 'kube-system', requests: { memory: '100Mi' }, usageMiB: 600 };
  const exhausted: AgentState['trend'] = { at: NOW, available: 50 * MIB, fillRate: MIB, lastingRate: 0 };

  test('is not evicted again while a larger one is held that the kubelet would evict, even in the last chance', () => {
    expect(whoGoes({ past, pods: [hog, returned] })).toEqual([]);
    expect(whoGoes({ past, pods: [hog, returned], trend: exhausted })).toEqual([]);
    const held = result({ past, pods: [hog, returned] }).decision.assessment.closedGates[0];
    expect(held?.facts).toEqual({ ProtectedNamespace: 1, ReturnedInVain: 1 });
    expect(candidatesOf({ past, pods: [hog, returned] })).toEqual([]);
    expect(candidatesOf({ past: [], pods: [hog, returned] })).toEqual(['leaking-1']);
  });

  test('without statistics is not evicted again before a pod above its request, although the policy ranks it first', () => {
    const unmeasured: NodePod = { ...returned, priority: 0, usageMiB: undefined as never };
    const ranking = { ...policy().ranking, missingStats: 'First' as const };
    const other: NodePod = { ...hog, namespace: 'default', priority: 1000 };
    const goes = (...pods: readonly NodePod[]) => whoGoes({ past, pods, rules: { ranking } });
    expect(goes(unmeasured, other)).toEqual(['hog']);
    expect(goes({ ...unmeasured, cameAt: EVICTED - 60_000 }, other)).toEqual(['leaking-1']);
    expect(goes(unmeasured, { ...other, usageMiB: 50 })).toEqual(['leaking-1']);
    expect(goes(unmeasured, hog)).toEqual([]);
  });

  test.each([
    ['came before', {}, { cameAt: EVICTED - 60_000 }, {}],
    ['was there when the agent started', {}, { cameAt: undefined as never }, {}],
    ['exceeds its request by more than the held pod', {}, { usageMiB: 700 }, {}],
    ['has an owner of which another resource took a pod', {}, {}, { resource: 'cpu' as const }],
    ['ranks beside a pod that the kubelet spares too', { priority: 2_000_000_000 }, {}, {}],
    ['ranks beside a held pod within its request', { requests: { memory: '700Mi' } }, {}, {}],
  ])('is evicted if it %s', (_, hogChange, returnedChange, pastChange) => {
    const pods = [
      { ...hog, ...hogChange },
      { ...returned, ...returnedChange },
    ];
    expect(whoGoes({ past: lost(1, { at: EVICTED, ...pastChange }), pods })).toEqual(['leaking-1']);
  });

  test('is evicted again if it takes the memory itself', () => {
    const at = (usedMiB: number): AgentState['growth'] => {
      const used = new Map([
        ['uid-leaking-1', usedMiB * MIB],
        ['uid-hog', 600 * MIB],
      ]);
      const older = { at: NOW - 5000, available: 90 * MIB, used };
      return [{ older, newer: older }];
    };
    expect(whoGoes({ past, pods: [hog, returned], trend: exhausted, growth: at(110) })).toEqual(['leaking-1']);
    expect(whoGoes({ past, pods: [hog, returned], trend: exhausted, growth: at(145) })).toEqual([]);
  });

  test('is evicted again while the kubelet would evict no other pod', () => {
    expect(whoGoes({ past, pods: [returned] })).toEqual(['leaking-1']);
  });

  test('counts as such up to ten seconds before the answer to the eviction', () => {
    const cameAt = EVICTED - 9999;
    expect(whoGoes({ past, pods: [hog, { ...returned, cameAt }] })).toEqual([]);
    expect(whoGoes({ past, pods: [hog, { ...returned, cameAt: cameAt - 1 }] })).toEqual(['leaking-1']);
  });
});

describe('the Event of it', () => {
  function eventsOf(pictures: readonly PassResult[]): readonly EventRecord[] {
    const events: EventRecord[] = [];
    const reporter = createReporter({
      recorder: { record: (event) => void events.push(event) },
      log: { showPass: () => undefined, showOutcome: () => undefined },
      metrics: undefined as never,
      node: () => ({ name: 'n', uid: undefined }),
      containers: () => [],
      clock: { now: () => 0, monotonic: () => 0 },
    });
    for (const each of pictures) reporter.passed(each);
    return events;
  }

  test('names the pod that stays, its owner and the limit, once for a shortage', () => {
    const limited = result({ past: lost(3) });
    const calm = result({ availableMiB: 900 });
    const events = eventsOf([limited, limited, result({}), limited, calm, limited]);
    expect(events).toHaveLength(2);
    expect(events[0]).toMatchObject({
      regarding: { kind: 'Pod', namespace: 'default', name: 'leaking-1', uid: 'uid-leaking-1' },
      reason: 'EvictionFailed',
      note: EVENTS.notEvicted(REASONS.ownerLimit({ count: 3, owner: LEAKING, most: 3 }).text),
    });
  });
});

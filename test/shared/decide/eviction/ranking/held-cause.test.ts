import { describe, expect, test } from 'vitest';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { decide, type PassResult } from '#shared/decide/eviction/decide.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { indexPods, type KubeletEviction, type NodeSnapshot } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import { createReporter } from '#agent/report/reporter.ts';
import { REASONS } from '#shared/decide/eviction/messages.ts';
import { EVENTS } from '#agent/messages.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { EventRecord } from '#shared/kube/events/event-recorder.ts';
import { type NodePod, nodePod, policy, snapshot } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';

const LIMITS = { concurrent: 1, perMinute: 99, perTenMinutes: 99, perNamespacePerTenMinutes: 99 };
const BUDGET: AttemptOutcome = { kind: 'tooManyRequests', cause: 'budget', message: 'm', retryAfterSeconds: undefined };
const others: readonly NodePod[] = ['q0', 'q1', 'q2'].map((name) => ({
  name,
  owner: name,
  priority: 1000,
  requests: { memory: '100Mi' },
  usageMiB: 110,
}));

interface Leak {
  /** What keeps the pod that leaks. */
  readonly hog?: Partial<NodePod>;
  readonly others?: readonly NodePod[];
  readonly rules?: Partial<AgentPolicy>;
  readonly outcome?: AttemptOutcome;
  readonly scene?: (usageMiB: number) => Partial<NodeSnapshot>;
  /** In MiB a second; 2 unless said. */
  readonly growsMiB?: number;
}

/** A pod without a request leaks, from 260 MiB that are left; a pass a second for two minutes. Who is asked, each once. */
function askedFor({ hog, others: rest = others, rules, outcome, scene, growsMiB = 2 }: Leak): readonly string[] {
  const moments = Array.from({ length: 120 }, (_, second): Moment => {
    const usageMiB = 50 + growsMiB * second;
    const leaking: NodePod = { name: 'hog', priority: 0, usageMiB, ...hog };
    return {
      now: second * 1000,
      availableMiB: Math.max(1, 310 - usageMiB),
      pods: [leaking, ...rest],
      ...(scene === undefined ? {} : { snapshot: scene(usageMiB) }),
      ...(outcome === undefined ? {} : { outcome }),
    };
  });
  const { steps } = runEpisode(moments, policy({ limits: LIMITS, ...rules }));
  return [...new Set(steps.flatMap(({ evicted }) => evicted))];
}

const NEVER = { annotations: { 'plimsoll.dev/evict': 'never' } };
const ALWAYS = { protect: { ...policy().protect, optOut: 'Always' as const } };

/** The hog is in no object that the agent reads, but its memory is used. */
function unseen(rest: {
  readonly unreadable?: readonly string[];
  readonly endedByKubelet?: readonly KubeletEviction[];
}) {
  return (usageMiB: number): Partial<NodeSnapshot> => {
    const { usage } = snapshot({ now: 0, pods: [{ name: 'hog', usageMiB }, ...others] });
    const index = indexPods(
      others.map((each) => rankingFacts(nodePod(each))),
      {
        endedByKubelet: [],
        unreadable: [],
        ...rest,
      },
    );
    return { usage, pods: index };
  };
}

describe('while the pod that causes the shortage stays, no pod goes in its stead', () => {
  test.each<[why: string, leak: Leak, asked: readonly string[]]>([
    ['a budget', { outcome: BUDGET }, ['hog']],
    ['two budgets', { outcome: { kind: 'severalBudgets', message: 'm' } }, ['hog']],
    ['a refusal', { outcome: { kind: 'forbidden', message: 'm' } }, ['hog']],
    ['an eviction that fails', { outcome: { kind: 'foundUnharmed' } }, ['hog']],
    ['an opt-out that always counts', { hog: NEVER, rules: ALWAYS }, []],
    ['a system namespace', { hog: { namespace: 'kube-system' } }, []],
    ['a limit of its owner', { hog: { owner: 'o' }, rules: { perOwnerPerHour: 0 } }, []],
    ['a grace period of a day', { hog: { deletion: { at: 0, gracePeriodSeconds: 86_400 } } }, []],
    ['missing statistics', { hog: { usageMiB: undefined as never } }, []],
    ['an object that cannot be read', { scene: unseen({ unreadable: ['cannot read pod "hog": m'] }) }, []],
    [
      'the kubelet’s eviction, which hangs',
      { scene: unseen({ endedByKubelet: [{ uid: 'uid-hog', resource: 'memory' }] }) },
      [],
    ],
  ])('kept by %s', (_, leak, asked) => {
    expect(askedFor(leak)).toEqual(asked);
  });

  test.each<[wish: string]>([['last'], ['never']])(
    'a wish for evict: %s covers no pod that takes the memory of more important ones',
    (wish) => {
      expect(askedFor({ hog: { annotations: { 'plimsoll.dev/evict': wish } } })).toEqual(['hog']);
    },
  );

  test('lower priority makes no other pod the cause', () => {
    const lower = others.map((each) => ({ ...each, priority: -5 }));
    expect(askedFor({ hog: NEVER, rules: ALWAYS, others: lower })).toEqual([]);
  });

  test('a slow leak is known by the longer windows, whatever the others do for a moment', () => {
    const noisy = others.map((each, index): NodePod => ({ ...each, usageMiB: 120 + 3 * index }));
    expect(askedFor({ hog: NEVER, rules: ALWAYS, others: noisy, growsMiB: 1.8 })).toEqual([]);
  });
});

describe('a less important pod that was refused', () => {
  const large: NodePod = { name: 'large', priority: 1000, requests: { memory: '390Mi' }, usageMiB: 400 };
  const small: NodePod = { name: 'small', priority: 0, usageMiB: 90 };

  /** 20 MiB a second vanish outside all pods, from the moment at which the small pod alone would be enough. */
  function whoIsAsked(
    pods: readonly NodePod[],
    answer: AttemptOutcome,
    rules?: Partial<AgentPolicy>,
  ): readonly string[] {
    const moments = Array.from({ length: 40 }, (_, tenth): Moment => {
      return { now: tenth * 100, availableMiB: 99 - 2 * tenth, pods, outcome: answer };
    });
    const { steps } = runEpisode(moments, policy({ limits: LIMITS, ...rules }));
    return [...new Set(steps.flatMap(({ evicted }) => evicted))];
  }

  test.each<[why: string, answer: AttemptOutcome]>([
    ['by a budget', BUDGET],
    ['for good', { kind: 'forbidden', message: 'm' }],
    ['by a failure', { kind: 'foundUnharmed' }],
  ])('%s keeps the larger one, also when it is asked again', (_, answer) => {
    expect(whoIsAsked([small, large], answer)).toEqual(['small']);
  });
});

describe('a held pod that asked to be last', () => {
  const wish = { annotations: { 'plimsoll.dev/evict': 'last' } };
  const held: NodePod = { name: 'held', namespace: 'kube-system', priority: 0, usageMiB: 400, ...wish };

  test('keeps a more important one in the mild stage, too', () => {
    const { steps } = runEpisode(
      Array.from({ length: 60 }, (_, second) => ({ now: second * 1000, availableMiB: 150, pods: [held, ...others] })),
      policy({ limits: LIMITS }),
    );
    expect(steps.flatMap(({ evicted }) => evicted)).toEqual([]);
  });
});

describe('a pod that stays and does not cause the shortage', () => {
  const db: NodePod = { name: 'db', namespace: 'kube-system', priority: 0, usageMiB: 400 };

  test('keeps no pod that leaks from being asked, at the same priority', () => {
    expect(askedFor({ others: [db] })).toEqual(['hog']);
  });

  test('keeps a more important pod that leaks only until the kernel would kill', () => {
    const leaking = { priority: 1000 };
    expect(askedFor({ hog: leaking, others: [db] })).toEqual([]);
    expect(askedFor({ hog: leaking, others: [db], growsMiB: 30 })).toEqual(['hog']);
  });

  test('is no cause if it is too small to end the shortage', () => {
    expect(askedFor({ hog: { priority: 1000 }, others: [{ ...db, usageMiB: 5 }] })).toEqual(['hog']);
  });
});

test('a pod that takes the memory is not too small beside larger ones that would go in another’s stead', () => {
  const moments = Array.from({ length: 30 }, (_, tenth): Moment => {
    const hog: NodePod = { name: 'hog', priority: 0, usageMiB: 10 + 2 * tenth };
    const db: NodePod = { name: 'db', namespace: 'kube-system', priority: -10, usageMiB: 500 };
    const large: NodePod = { name: 'large', priority: 0, requests: { memory: '280Mi' }, usageMiB: 300 };
    return { now: tenth * 100, availableMiB: 95 - 2 * tenth, pods: [db, large, hog], outcome: BUDGET };
  });
  const { steps } = runEpisode(moments, policy({ limits: LIMITS }));
  expect([...new Set(steps.flatMap(({ evicted }) => evicted))]).toEqual(['hog']);
});

describe('status and Event', () => {
  const kept: NodePod = { name: 'hog', namespace: 'kube-system', priority: 0, usageMiB: 500 };
  const seen = snapshot({ now: 0, availableMiB: 50, pods: [kept, ...others] });
  const result: PassResult = { snapshot: seen, policy: policy(), decision: decide(FIRST_STATE, seen, policy()) };
  const facts = { pod: 'kube-system/hog', why: 'the pod is in the protected namespace kube-system' };

  test('name the pod that stays, and list none that would go in its stead', () => {
    const { closedGates, candidates } = result.decision.assessment;
    expect(closedGates.map(({ code }) => code)).toEqual(['NoEligiblePod', 'LeftToKubelet']);
    expect(closedGates[0]?.facts).toEqual({ ProtectedNamespace: 1, CauseHeld: 3 });
    expect(closedGates[1]?.text).toBe(REASONS.leftToKubelet(facts).text);
    expect(candidates()).toEqual([]);
  });

  test('the Event is on that pod, once for a shortage', () => {
    const events: EventRecord[] = [];
    const reporter = createReporter({
      recorder: { record: (event) => void events.push(event) },
      log: { showPass: () => undefined, showOutcome: () => undefined },
      metrics: undefined as never,
      node: () => ({ name: 'node-a', uid: 'node' }),
      containers: () => [],
      clock: { now: () => 0, monotonic: () => 0 },
    });
    for (const each of [result, result]) reporter.passed(each);
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      regarding: { kind: 'Pod', namespace: 'kube-system', name: 'hog' },
      note: EVENTS.notEvicted(REASONS.leftToKubelet(facts).text),
    });
  });
});

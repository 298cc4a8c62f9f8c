import { describe, expect, test } from 'vitest';
import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { type NodeSnapshot, indexPods } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { AgentPolicy } from '#shared/api/node-pressure-policy/policy.ts';
import { rankingFacts } from '#shared/domain/ranking/candidate.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { leavingAboveRequest } from '#shared/decide/eviction/ranking/rank-node.ts';
import { MIRROR_POD, nodePod, type NodePod, policy, snapshot as snapshotOf } from '#test/agent/node-scene.ts';
import { type Moment, runEpisode } from '#test/shared/decide/eviction/episode.ts';

const DAY = 86_400;
const hog: NodePod = { name: 'hog', requests: { memory: '100Mi' }, usageMiB: 500 };
const other: NodePod = { name: 'other', priority: 5, requests: { memory: '10Mi' }, usageMiB: 90 };
const within: NodePod = { name: 'within', requests: { memory: '400Mi' }, usageMiB: 300 };
const NEVER = { annotations: { 'plimsoll.dev/evict': 'never' } };
const MESSAGE = { message: 'm' };
const LIMITS = { concurrent: 1, perMinute: 99, perTenMinutes: 99, perNamespacePerTenMinutes: 99 };

interface Case {
  readonly pods: readonly NodePod[];
  readonly rules?: Partial<AgentPolicy>;
  readonly snapshot?: Partial<NodeSnapshot>;
  /** What the request to evict a pod comes to. */
  readonly outcome?: AttemptOutcome;
  readonly availableMiB?: number;
}

/** Who is asked to go in two seconds, each name once, and why no further pod goes at the end. */
function run({ pods, rules, snapshot, outcome, availableMiB = 10 }: Case) {
  const times = availableMiB < 100 ? [] : [-30_000];
  const every100ms = Array.from({ length: 20 }, (_, index) => index * 100);
  const moments: readonly Moment[] = [...times, ...every100ms].map((now) => ({
    now,
    availableMiB,
    pods,
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(outcome === undefined ? {} : { outcome }),
  }));
  const { steps } = runEpisode(moments, policy({ limits: LIMITS, ...rules }));
  return { names: [...new Set(steps.flatMap(({ evicted }) => evicted))], steps };
}

const always = { protect: { ...policy().protect, optOut: 'Always' as const } };
const guarded: AttemptOutcome = { kind: 'tooManyRequests', cause: 'budget', ...MESSAGE, retryAfterSeconds: undefined };
const terminating = (pod: NodePod, seconds: number): NodePod => ({
  ...pod,
  deletion: { at: 0, gracePeriodSeconds: seconds },
});

/** What keeps the hog, and how the scene differs. */
const HOLDERS: readonly (readonly [what: string, hog: Partial<NodePod>, scene: Partial<Case>])[] = [
  ['an opt-out that always counts', NEVER, { rules: always }],
  ['kube-system', { namespace: 'kube-system' }, {}],
  [
    'a namespace that the policy protects',
    { namespace: 'db' },
    { rules: { protect: { ...policy().protect, namespaces: ['db'] } } },
  ],
  ['a grace period of a day', { deletion: { at: 0, gracePeriodSeconds: DAY } }, {}],
  ['missing statistics', { usageMiB: undefined as never }, {}],
  ['a measurement of 0 bytes, as of a virtual machine,', { usageMiB: 0 }, {}],
  ['a limit of its owner', { owner: 'web' }, { rules: { perOwnerPerHour: 0 } }],
];

test('terminating pods above their requests are in the same order however they are read', () => {
  const leaving = ['x', 'y'].map((name) => terminating({ ...hog, name }, DAY));
  const [named, otherwise] = [leaving, leaving.toReversed()].map((pods) => {
    const context = { signal: 'memory.available', stage: 'severe', evictions: FIRST_STATE.evictions.Enforce } as const;
    return leavingAboveRequest(context, snapshotOf({ now: 0, pods }), policy()).map(({ facts }) => facts.pod.name);
  });
  expect([named, otherwise]).toEqual([
    ['x', 'y'],
    ['x', 'y'],
  ]);
});

describe('a pod within its request', () => {
  test.each(HOLDERS)('stays when %s keeps the pod above its request', (_, change, scene) => {
    expect(run({ pods: [{ ...hog, ...change }, within], ...scene }).names).toEqual([]);
    expect(run({ pods: [within], ...scene }).names).toEqual(['within']);
  });

  test.each<[what: string, outcome: AttemptOutcome]>([
    ['a spent budget', guarded],
    ['several budgets', { kind: 'severalBudgets', ...MESSAGE }],
    ['a refusal', { kind: 'forbidden', ...MESSAGE }],
    ['an eviction that fails', { kind: 'foundUnharmed' }],
    ['a GET that fails', { kind: 'unconfirmed', ...MESSAGE, isAnswered: true }],
    ['a pod that cannot be decoded', { kind: 'unreadable', ...MESSAGE }],
  ])(
    'stays when %s keeps the pod above its request, and no other pod above its own goes in its stead',
    (_, outcome) => {
      expect(run({ pods: [hog, within], outcome }).names).toEqual(['hog']);
      expect(run({ pods: [hog, other, within], outcome }).names).toEqual(['hog']);
    },
  );

  test('stays while a pod of the node cannot be read, which may hold anything', () => {
    const facts = [within].map((each) => rankingFacts(nodePod(each)));
    const unreadable = indexPods(facts, { endedByKubelet: [], unreadable: ['cannot read pod "x": spec: m'] });
    expect(run({ pods: [within], snapshot: { pods: unreadable } }).names).toEqual([]);
  });

  test('stays while a victim above its request still holds its memory, also a stuck one', () => {
    const pods = [terminating(hog, 1), within];
    const moments = [0, 3000, 60_000].map((now) => ({ now, availableMiB: 10, pods }));
    expect(runEpisode(moments, policy({ limits: LIMITS })).steps.flatMap(({ evicted }) => evicted)).toEqual([]);
  });

  test.each<[what: string, change: Partial<NodePod>]>([
    ['a system priority', { priority: 2_000_000_000 }],
    ['a static pod', MIRROR_POD],
  ])('goes when %s keeps the pod above its request, which the kubelet does not evict either', (_, change) => {
    expect(run({ pods: [{ ...hog, ...change }, within] }).names).toEqual(['within']);
  });

  test.each<[ranking: AgentPolicy['ranking']['ranking']]>([['ShareOfRequest'], [{ keys: ['priority'] }]])(
    'goes after those above their requests with the ranking %j',
    (ranking) => {
      const rules = { ranking: { ...policy().ranking, ranking } };
      expect(run({ pods: [{ ...hog, priority: 9 }, within], rules }).names).toEqual(['hog']);
    },
  );

  test('does not go in one pass with a pod above its request', () => {
    const rules = { limits: { ...LIMITS, concurrent: 4 } };
    expect(run({ pods: [{ ...other, usageMiB: 20 }, within], rules }).names).toEqual(['other']);
  });

  test('stays in the mild stage as well', () => {
    const pods = [{ ...hog, ...NEVER }, within];
    expect(run({ pods, availableMiB: 150 }).names).toEqual([]);
    expect(run({ pods: [within], availableMiB: 150 }).names).toEqual(['within']);
  });

  test('is not offered as the next one, and the reason names the pod that is held', () => {
    const { steps } = run({ pods: [{ ...hog, ...NEVER }, within], rules: always });
    expect(steps.at(-1)?.closedGates).toEqual(['NoEligiblePod']);
  });
});

describe('an opt-out', () => {
  test('protects a pod above its request in the mild stage, and in the severe one where the policy says so', () => {
    const pods = [{ ...hog, ...NEVER }];
    expect(run({ pods }).names).toEqual(['hog']);
    expect(run({ pods, rules: always }).names).toEqual([]);
    expect(run({ pods, availableMiB: 150 }).names).toEqual([]);
  });

  test('protects a pod within its request in both stages', () => {
    expect(run({ pods: [{ ...within, ...NEVER }] }).names).toEqual([]);
  });
});

test('a pod that the kernel has just killed uses 0 bytes, and does not go, even if pods without a figure go first', () => {
  const rules = { ranking: { ...policy().ranking, missingStats: 'First' as const } };
  const killed: NodePod = { name: 'killed', requests: { memory: '0' }, usageMiB: 0 };
  expect(run({ pods: [killed, hog], rules }).names).toEqual(['hog']);
  expect(run({ pods: [{ ...killed, usageMiB: undefined as never }, hog], rules }).names[0]).toBe('killed');
});

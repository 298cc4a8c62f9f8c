import { describe, expect, test } from 'vitest';
import type { PassPorts } from '#agent/pass.ts';
import type { Tamper } from './agent.ts';
import { MIB } from '#test/agent/node-scene.ts';
import { expectNoBreach } from './expect-no-breach.ts';
import { type Focus, hunt, slowed } from './hunt.ts';
import type { Law } from './breach.ts';
import type { LawPod, Scenario } from './scenario.ts';
import { FIRST_SEED } from './seed.ts';

/** Few enough for every run; `laws.long.test.ts` runs many more. */
const EPISODES = 200;
/** Enough for a wrong agent to show. */
const EPISODES_OF_WRONG = 25;
const TIMEOUT_MS = 120_000;

describe('a node with the agent beside the kubelet and the kernel', () => {
  test(
    `${EPISODES} episodes break no law, and leave the node no worse than with the kubelet alone`,
    () => expectNoBreach(FIRST_SEED, EPISODES),
    TIMEOUT_MS,
  );

  test.each([
    ['comes back at once does not keep the kubelet from the pod that grows', 20_442_079],
    ['grows is asked once the API server answers, although an earlier request hangs', 20_483_027],
    ['takes more than a less important one that stays is asked before the kernel kills', 70_008_077],
    ['cannot be read may be the cause until its object is gone', 70_012_068],
  ])('a pod that %s', async (_, seed) => {
    expect((await hunt(seed, 1)).findings).toEqual(new Map());
  });
});

/** An agent that does wrong, the law that must notice, and the episodes in which it matters; absent: any. */
interface Wrong {
  readonly law: Law;
  readonly tamper: Tamper;
  readonly focus?: (scenario: Scenario) => Scenario;
}

const NO_LIMIT = 10_000;

const WRONG: Readonly<Record<string, Wrong>> = {
  'never acts': { law: 'asked', tamper: withPolicy({ thresholds: [] }), focus: withLeak },
  'takes its windows for full': {
    law: 'asked',
    tamper: withLimits({ perTenMinutes: 0, perMinute: 0 }),
    focus: withLeak,
  },
  'drops the windows of the node': {
    law: 'limits',
    tamper: withLimits({ perMinute: NO_LIMIT, perTenMinutes: NO_LIMIT }),
    focus: withChoice({ perMinute: 1, perTenMinutes: 1 }),
  },
  'drops the window of a namespace': {
    law: 'limits',
    tamper: withLimits({ perNamespacePerTenMinutes: NO_LIMIT }),
    focus: (scenario) =>
      withChoice({ perNamespace: 1, perMinute: NO_LIMIT, perTenMinutes: NO_LIMIT })(withoutRequests(scenario)),
  },
  'overlooks what the kubelet does': {
    law: 'standBack',
    tamper: (ports) => ({ ...ports, pods: { ...ports.pods, endedByKubelet: () => [] } }),
    focus: withStuckVictim,
  },
  'takes every pod’s request for a gigabyte': { law: 'inside', tamper: withRequests(() => 1024) },
  'takes every pod for one without a request': { law: 'inside', tamper: withRequests(() => 0) },
  'overlooks pods that cannot be read': {
    law: 'inside',
    tamper: (ports) => ({ ...ports, pods: { ...ports.pods, unreadable: () => [] } }),
    focus: withCulprit({ fault: 'unreadable' }),
  },
  'takes the request of the spec for the allocated one': {
    law: 'inside',
    tamper: withRequests(({ resize, requestMiB }) => resize?.requestMiB ?? requestMiB),
    focus: withCulprit({ resize: { requestMiB: NO_LIMIT, state: 'Infeasible' } }),
  },
  'evicts in dry run': {
    law: 'dryRun',
    tamper: withPolicy({ mode: 'Enforce' }),
    focus: withChoice({ mode: 'DryRun' }),
  },
  'says that it is warming up': { law: 'gate', tamper: (ports) => ({ ...ports, closedGates: () => [WARMING_UP] }) },
};
const WARMING_UP = { code: 'WarmingUp', text: 'the agent has just started; evictions begin in 9 s', facts: {} };

function withChoice(changes: Partial<Scenario['policy']>): (scenario: Scenario) => Scenario {
  return (scenario) => ({ ...scenario, policy: { ...scenario.policy, ...changes } });
}

const LEAK: Partial<LawPod> = {
  namespace: 'a',
  kind: 'ReplicaSet',
  isMeasured: true,
  comesBack: false,
  requestMiB: 50,
  startMiB: 100,
  growsMiB: 60,
  growsFromMs: 0,
  mostMiB: 100_000,
  fault: undefined,
  wish: undefined,
  resize: undefined,
  deletedAtMs: undefined,
};

/** One pod leaks in four seconds what is left, nothing holds it, and the kubelet looks too late. */
function withLeak(scenario: Scenario): Scenario {
  const limits = { concurrent: 1, perMinute: 2, perTenMinutes: 4, perNamespace: 4, perOwnerPerHour: 3 };
  const choice = { ...limits, mode: 'Enforce', hardMiB: 250, missingStats: 'Never' } as const;
  const kubelet = { ...scenario.kubelet, phaseMs: 9900 };
  const pods = withCulprit(LEAK)(scenario).pods.map((pod) => (pod.requestMiB === 50 ? pod : { ...pod, growsMiB: 0 }));
  const outsideMiB = scenario.capacityMiB - 300 - pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  return withChoice(choice)({ ...scenario, pods, kubelet, outsideMiB, outsideGrowsMiB: 0, api: [], lengthMs: 8000 });
}

/** The kubelet evicts the pod that leaks, which does not end; others are above their requests. */
function withStuckVictim(scenario: Scenario): Scenario {
  const leaking = withLeak(scenario);
  const pods = leaking.pods.map((pod) =>
    pod.growsMiB > 0 ? { ...pod, hangsMs: 600_000 } : { ...pod, requestMiB: 0, resize: undefined, fault: undefined },
  );
  return { ...leaking, pods, kubelet: { ...leaking.kubelet, hardMiB: 400, phaseMs: 900 } };
}

/** Every pod is above its request. */
function withoutRequests(scenario: Scenario): Scenario {
  const pods = scenario.pods.map((pod) => ({ ...pod, requestMiB: 0, resize: undefined, isGuaranteed: false }));
  return { ...scenario, pods };
}

/** Changes the pod that grows fastest. */
function withCulprit(changes: Partial<LawPod>): (scenario: Scenario) => Scenario {
  return (scenario) => {
    const [fastest] = scenario.pods.toSorted((left, right) => right.growsMiB - left.growsMiB);
    return { ...scenario, pods: scenario.pods.map((pod) => (pod === fastest ? { ...pod, ...changes } : pod)) };
  };
}

function withPolicy(changes: Partial<ReturnType<PassPorts['policy']>>): Tamper {
  return (ports) => ({ ...ports, policy: () => ({ ...ports.policy(), ...changes }) });
}

function withLimits(changes: Partial<ReturnType<PassPorts['policy']>['limits']>): Tamper {
  return (ports) => ({
    ...ports,
    policy: () => ({ ...ports.policy(), limits: { ...ports.policy().limits, ...changes } }),
  });
}

function withRequests(requestMiB: (pod: LawPod) => number): Tamper {
  return (ports, { pods }) => {
    const requestOf = ({ name }: { readonly name: string }): number => {
      const spec = pods.find((each) => each.name === name);
      return spec === undefined ? 0 : requestMiB(spec) * MIB;
    };
    const alive: PassPorts['pods']['alive'] = () =>
      ports.pods.alive().map((known) => {
        const memory = { mantissa: requestOf(known.facts.pod), exponent: 0 };
        return { ...known, facts: { ...known.facts, requests: { ...known.facts.requests, memory } } };
      });
    return { ...ports, pods: { ...ports.pods, alive } };
  };
}

/** How many breaches of a law the episodes show. */
async function countBreaches(law: Law, { focus, tamper }: { readonly focus?: Focus; readonly tamper?: Tamper }) {
  const { findings } = await hunt(FIRST_SEED, EPISODES_OF_WRONG, { focus, tamper });
  const ofLaw = [...findings.values()].filter(({ breach }) => breach.law === law);
  return ofLaw.reduce((count, { seeds }) => count + seeds.length, 0);
}

/** As slow as clusters leak: the growth is a share of that of the short episodes, over minutes up to half an hour. */
const LONG_EPISODES = [
  [120, 0.15, 60],
  [300, 0.04, 30],
  [1800, 0.008, 6],
] as const;

describe('a node over minutes', () => {
  test.each(LONG_EPISODES)(
    'episodes of %i s break no law, growth times %d',
    async (seconds, growth, count) => {
      const { findings } = await hunt(FIRST_SEED, count, { focus: slowed(growth, seconds) });
      expect([...findings.keys()]).toEqual([]);
    },
    TIMEOUT_MS,
  );
});

test('a victim of the kubelet that hangs has taken nothing since, and holds no pod that leaks', async () => {
  const found = await Promise.all([86_004_172, 86_011_122].map((seed) => hunt(seed, 1, { focus: slowed(0.04, 300) })));
  expect(found.flatMap(({ findings }) => [...findings.keys()])).toEqual([]);
});

test.each([
  ['is no pod inside its request', 84_010_509, slowed(0.04, 300)],
  ['was not evicted by the kubelet just now', 87_004_763, slowed(0.15, 120)],
])('a pod that ended while the watch stalls %s', async (_, seed, focus) => {
  expect((await hunt(seed, 1, { focus })).findings).toEqual(new Map());
});

test.each([
  [84_004_691, slowed(0.04, 300)],
  [86_002_791, slowed(0.04, 300)],
  [87_004_887, slowed(0.15, 120)],
])(
  'no pod inside its request pays where the soft threshold of the kubelet is above those of the policy: %i',
  async (seed, focus) => {
    expect((await hunt(seed, 1, { focus })).findings).toEqual(new Map());
  },
);

describe('the laws notice an agent that', () => {
  test.each(Object.entries(WRONG))(
    '%s',
    async (_name, { law, tamper, focus }) => {
      const right = await countBreaches(law, { ...(focus && { focus }) });
      const wrong = await countBreaches(law, { ...(focus && { focus }), tamper });
      expect(wrong).toBeGreaterThan(2 * right);
    },
    TIMEOUT_MS,
  );
});

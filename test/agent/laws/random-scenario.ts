import { randomSource, type RandomSource } from '#test/fakes/random-source.ts';
import type { ApiFault, KubeletChoice, LawPod, PodFault, PolicyChoice, Scenario } from './scenario.ts';

/** The same seed gives the same episode. */
export function randomScenario(seed: number): Scenario {
  const random = randomSource(seed);
  // The first numbers of neighbouring seeds are alike.
  for (let index = 0; index < 3; index += 1) random.next();
  const capacityMiB = pick(random, [2048, 4096, 8192]);
  const policy = randomPolicy(random);
  const kubelet = randomKubelet(random);
  const count = 2 + random.below(7);
  const culprits = pick(random, [1, 1, 1, 1, 2, 0]);
  const room = (capacityMiB * 0.7) / count;
  const pods = Array.from({ length: count }, (_, index) =>
    randomPod(random, { index, room, isCulprit: index < culprits }),
  );
  const outsideGrowsMiB = culprits === 0 ? rate(random, 10, 500) : pick(random, [0, 0, 0, 0, 5]);
  const fastest = Math.max(outsideGrowsMiB, ...pods.map(({ growsMiB }) => growsMiB));
  const headroomMiB = Math.max(policy.hardMiB, policy.softMiB ?? 0) + 10 + fastest * random.next();
  const used = pods.reduce((sum, { startMiB }) => sum + startMiB, 0);
  return {
    seed,
    capacityMiB,
    outsideMiB: Math.max(50, Math.round(capacityMiB - used - headroomMiB)),
    outsideGrowsMiB,
    pods: random.shuffled(pods),
    policy,
    kubelet,
    api: randomFaults(random),
    isTainted: random.chance(0.8),
    nearMs: pick(random, [100, 200, 200]),
    lengthMs: random.chance(0.03) ? 60_000 : pick(random, [5000, 8000, 12_000]),
  };
}

/** Unlike that of the source, it may pick `undefined`. */
function pick<const T>(random: RandomSource, items: readonly T[]): T {
  return items[random.below(items.length)] as T;
}

function between(random: RandomSource, least: number, most: number): number {
  return Math.round(least + random.next() * (most - least));
}

/** Slow ones are as frequent as fast ones. */
function rate(random: RandomSource, least: number, most: number): number {
  return Math.round(least * (most / least) ** random.next());
}

interface Place {
  readonly index: number;
  readonly room: number;
  readonly isCulprit: boolean;
}

const PRIORITIES = [-10, 0, 0, 0, 100, 1000, 2_000_000, 2_000_001_000];
const KINDS = ['Static', 'ReplicaSet', 'ReplicaSet', 'ReplicaSet', 'ReplicaSet', 'DaemonSet', 'Bare'] as const;
const GRACES = [0, 1, 5, 30, 30, 30, 600, 3600, 86_400];
const FAULTS: readonly PodFault[] = [
  'budget',
  'budget',
  'budget',
  'twoBudgets',
  'getFails',
  'evictFails',
  'forbidden',
  'unreadable',
];

function randomPod(random: RandomSource, { index, room, isCulprit }: Place): LawPod {
  const startMiB = Math.max(5, between(random, room * 0.05, room));
  // Inside its request, a little above it, far above it, or without one.
  const share = pick(random, [0, 0.1, 0.5, 0.95, 1.2, 1.5, 2, 3]);
  return {
    name: `p${index}`,
    namespace: pick(random, ['a', 'a', 'a', 'b', 'b', 'kube-system']),
    priority: isCulprit ? pick(random, [-10, 0, 0, 0, 1000]) : pick(random, PRIORITIES),
    requestMiB: Math.round(startMiB * share),
    isGuaranteed: share > 0 && random.chance(0.3),
    kind: pick(random, isCulprit ? KINDS.slice(1) : KINDS),
    wish: pick(random, ['never', 'last', undefined, undefined, undefined, undefined]),
    startMiB,
    ...randomGrowth(random, isCulprit, startMiB),
    ...randomEnding(random),
    isMeasured: !random.chance(0.03),
    fault: random.chance(0.2) ? pick(random, FAULTS) : undefined,
    resize: random.chance(0.1) ? randomResize(random, startMiB) : undefined,
  };
}

type Growth = Pick<LawPod, 'growsMiB' | 'growsFromMs' | 'mostMiB'>;

function randomGrowth(random: RandomSource, isCulprit: boolean, startMiB: number): Growth {
  const grows = isCulprit || random.chance(0.1);
  if (!grows) return { growsMiB: 0, growsFromMs: 0, mostMiB: startMiB };
  return {
    growsMiB: isCulprit ? rate(random, 8, 1500) : rate(random, 1, 50),
    growsFromMs: between(random, 0, 1000),
    mostMiB: pick(random, [startMiB + 100, startMiB + 400, 100_000, 100_000]),
  };
}

type Ending = Pick<LawPod, 'graceSeconds' | 'shutdownMs' | 'hangsMs' | 'deletedAtMs' | 'comesBack'>;

function randomEnding(random: RandomSource): Ending {
  return {
    graceSeconds: pick(random, GRACES),
    shutdownMs: pick(random, [50, 200, 1000, 5000, Infinity]),
    hangsMs: pick(random, [0, 0, 0, 0, 0, 500, 5000, 600_000]),
    deletedAtMs: random.chance(0.08) ? between(random, 0, 6000) : undefined,
    comesBack: random.chance(0.3),
  };
}

function randomResize(random: RandomSource, startMiB: number): LawPod['resize'] {
  return {
    requestMiB: Math.round(startMiB * pick(random, [0.2, 0.8, 1.5, 4])),
    state: pick(random, ['Done', 'Deferred', 'Infeasible']),
  };
}

function randomPolicy(random: RandomSource): PolicyChoice {
  const hardMiB = pick(random, [100, 150, 250, 250, 250, 500]);
  return {
    mode: random.chance(0.04) ? 'DryRun' : 'Enforce',
    hardMiB,
    softMiB: pick(random, [undefined, hardMiB + 100, hardMiB * 2]),
    softGraceSeconds: pick(random, [1, 2, 5, 30]),
    reclaimMiB: pick(random, [undefined, undefined, 50, 200]),
    mostGraceSeconds: pick(random, [0, 5, 30, 30, 3600]),
    ranking: pick(random, [
      'Kubernetes',
      'Kubernetes',
      'Kubernetes',
      'ShareOfRequest',
      ['exceedsRequests', 'qos', 'priority'],
      ['priority', 'usageAboveRequests'],
    ] as const),
    missingStats: pick(random, ['Never', 'Never', 'Last', 'First']),
    daemonSets: pick(random, ['Last', 'Last', 'Rank']),
    concurrent: pick(random, [1, 1, 1, 1, 2, 4, 0]),
    perMinute: pick(random, [2, 2, 2, 2, 1, 10, 0]),
    perTenMinutes: pick(random, [4, 4, 4, 2, 20]),
    perNamespace: pick(random, [4, 4, 4, 1, 20]),
    perOwnerPerHour: pick(random, [3, 3, 3, 1, 20, 0]),
    optOutCeiling: pick(random, [1_000_000, 1_000_000, -20, 500]),
    optOut: pick(random, ['WithinRequest', 'WithinRequest', 'WithinRequest', 'Always']),
    withinRequest: random.chance(0.3),
  };
}

function randomKubelet(random: RandomSource): KubeletChoice {
  const hasSoft = random.chance(0.15);
  return {
    hardMiB: 100,
    softMiB: hasSoft ? pick(random, [200, 400]) : undefined,
    softGraceSeconds: pick(random, [5, 20]),
    mostGraceSeconds: pick(random, [0, 10]),
    phaseMs: between(random, 0, 10_000),
  };
}

function randomFaults(random: RandomSource): readonly ApiFault[] {
  if (!random.chance(0.2)) return [];
  const fromMs = between(random, 0, 4000);
  const kind = pick(random, [
    'throttled',
    'throttled',
    'serverError',
    'timeout',
    'unreachable',
    'slow',
    'watchStalls',
  ] as const);
  const toMs = fromMs + pick(random, [500, 2000, 5000, 60_000]);
  return [{ kind, fromMs, toMs, retryAfterSeconds: pick(random, [undefined, 1, 10, 60]) }];
}

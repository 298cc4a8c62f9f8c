import type { AttemptOutcome } from '#shared/decide/eviction/apply-outcome.ts';
import { SYSTEM_CRITICAL_PRIORITY } from '#shared/domain/eviction/protection.ts';
import { parseThresholds } from '#shared/domain/pressure/parse-thresholds.ts';
import type { NodeSnapshot, PodPressure } from '#shared/decide/eviction/snapshot/node-snapshot.ts';
import type { FreshPod } from '#shared/decide/eviction/eviction.ts';
import {
  type AgentPolicy,
  DEFAULT_POLICY,
  DEFAULT_STALL_RULES,
  STILL_WINDOW_MS,
} from '#shared/api/node-pressure-policy/policy.ts';
import { snapshot, MIB, MIRROR_POD, type NodePod, nodePod } from '#test/agent/node-scene.ts';

/** How the API server and the last look before a request may end an attempt. */
export const OUTCOMES: readonly AttemptOutcome[] = [
  ...Array.from({ length: 10 }, () => ({ kind: 'evicted' }) as const),
  { kind: 'tooManyRequests', cause: 'budget', message: '', retryAfterSeconds: undefined },
  { kind: 'tooManyRequests', cause: 'throttled', message: '', retryAfterSeconds: 3 },
  ...(['notFound', 'uidMismatch', 'forbidden', 'severalBudgets', 'timeout'] as const).map((kind) => ({
    kind,
    message: '',
  })),
  ...(['overtaken', 'relieved', 'unconfirmed'] as const).map((kind) => ({ kind, message: '' })),
];

export type Random = () => number;

export function pick<T>(random: Random, values: readonly T[]): T {
  return values[Math.floor(random() * values.length)] as T;
}

const PRIORITIES = [-1, 0, 0, 5, 1000, 1_000_000, 1_000_001, SYSTEM_CRITICAL_PRIORITY, 2_147_483_647];
const CLOSED_NAMESPACES = ['ignored', 'unknown', 'kube-system', 'plimsoll-system', 'plimsoll-node'];
const NAMESPACES = ['a', 'a', 'a', 'b', 'b', 'b', ...CLOSED_NAMESPACES];
const ANNOTATIONS: readonly Record<string, string>[] = [
  {},
  {},
  {},
  { 'plimsoll.dev/evict': 'never' },
  { 'plimsoll.dev/evict': 'last' },
  { 'kubernetes.io/config.mirror': '' },
  { 'kubernetes.io/config.source': 'file' },
];
const EVICTED = [{ type: 'DisruptionTarget', status: 'True', reason: 'EvictionByEvictionAPI' }];

function randomPod(random: Random, index: number, incarnation: number): NodePod {
  const usage = random() < 0.1 ? {} : { usageMiB: Math.floor(random() * 300) };
  return {
    name: `p${index}`,
    uid: `p${index}-${incarnation}`,
    namespace: pick(random, NAMESPACES),
    priority: pick(random, PRIORITIES),
    requests: random() < 0.3 ? {} : { memory: `${Math.floor(random() * 200)}Mi` },
    annotations: pick(random, ANNOTATIONS),
    ...(random() < 0.7
      ? { owner: `o${Math.floor(random() * 3)}`, ownerKind: pick(random, ['ReplicaSet', 'DaemonSet']) }
      : {}),
    ...(random() < 0.05 ? MIRROR_POD : {}),
    ...(random() < 0.05 ? { phase: pick(random, ['Failed', 'Succeeded', 'Pending']) } : {}),
    ...(random() < 0.05 ? { deletion: { at: 0, gracePeriodSeconds: pick(random, [undefined, 0, 1, 30, 3600]) } } : {}),
    ...(random() < 0.5 ? { spec: { terminationGracePeriodSeconds: pick(random, [0, 1, 30, 3600, 3600, 3600]) } } : {}),
    ...(random() < 0.5 ? { cpuNanoCores: Math.floor(random() * 2e9) } : {}),
    ...usage,
  };
}

function randomPolicy(random: Random): AgentPolicy {
  const count = (): number => (random() < 0.1 ? 0 : pick(random, [1, 2, 8, 20, 20]));
  const parsed = parseThresholds({
    evictionHard: { 'memory.available': pick(random, ['50Mi', '50Mi', '100Mi', '100Mi', '30%', '100%']) },
    evictionSoft: { 'memory.available': pick(random, ['200Mi', '40%']) },
    evictionSoftGracePeriod: { 'memory.available': pick(random, ['0s', '1s', '1s', '30s']) },
    evictionMinimumReclaim: random() < 0.3 ? { 'memory.available': '50Mi' } : {},
  });
  return {
    ...DEFAULT_POLICY,
    confirmedGeneration: random() < 0.95 ? DEFAULT_POLICY.generation : undefined,
    mode: pick(random, ['DryRun', 'Enforce', 'Enforce']),
    memoryFigure: pick(random, ['Reclaimable', 'Kubelet']),
    thresholds: parsed.ok ? parsed.thresholds : [],
    thresholdModes: new Map(
      (parsed.ok ? parsed.thresholds : []).map(({ id }) => [id, pick(random, ['DryRun', 'Enforce', 'Enforce'])]),
    ),
    stallRules: DEFAULT_STALL_RULES.map((rule) => ({
      ...rule,
      gracePeriodMs: pick(random, [0, rule.gracePeriodMs]),
      mode: pick(random, ['DryRun', 'Enforce']),
    })),
    mostGraceSeconds: pick(random, [0, 30, 3600, 3600, 3600]),
    limits: { concurrent: count(), perMinute: count(), perTenMinutes: count(), perNamespacePerTenMinutes: count() },
    perOwnerPerHour: random() < 0.1 ? 0 : pick(random, [1, 3, 20, 20, 20]),
    ranking: {
      ranking: pick(random, ['Kubernetes', 'ShareOfRequest', { keys: ['qos', 'runTime'] }]),
      missingStats: pick(random, ['Never', 'Last', 'First']),
      daemonSets: pick(random, ['Last', 'Rank']),
    },
    protect: {
      namespaces: random() < 0.2 ? ['b'] : [],
      optOut: pick(random, ['WithinRequest', 'Always'] as const),
      optOutCeiling: pick(random, [-10, 1000, 1_000_000]),
      withinRequest: random() < 0.3,
    },
  };
}

/** What a node goes through for a while: how much memory it tends to, and whether its CPU is busy. */
interface Weather {
  readonly until: number;
  /** In MiB of 1000; `undefined`: it wanders. */
  readonly memory: number | undefined;
  readonly isCpuBusy: boolean;
}

const CALM = 800;
const SOFT = 150;
const HARD = 20;

/** A soft shortage often becomes a hard one, while those that had to go still use the grace that they were left. */
function nextWeather(random: Random, { memory: before }: Weather, now: number): Weather {
  const until = now + pick(random, [5000, 30_000, 60_000]);
  const isCpuBusy = random() < 0.3;
  const memory = before === SOFT && random() < 0.8 ? HARD : pick(random, [undefined, CALM, SOFT, SOFT, SOFT, HARD]);
  return { until, memory, isCpuBusy };
}

const RATIOS = [0, 0.05, 0.3, 1];

function randomStalls(random: Random, { isCpuBusy }: Weather): NodeSnapshot['stalls'] {
  if (isCpuBusy) return CPU_STALLS;
  if (random() < 0.8) return [];
  return (['memory.pressure', 'cpu.pressure', 'io.pressure'] as const).flatMap((signal) =>
    [STILL_WINDOW_MS, 10_000, 60_000, 300_000].flatMap((windowMs) => [
      { signal, share: 'some' as const, windowMs, ratio: pick(random, RATIOS) },
      { signal, share: 'full' as const, windowMs, ratio: pick(random, RATIOS) },
    ]),
  );
}

const CPU_STALLS: NodeSnapshot['stalls'] = [STILL_WINDOW_MS, 10_000, 60_000, 300_000].map((windowMs) => ({
  signal: 'cpu.pressure',
  share: 'some',
  windowMs,
  ratio: 1,
}));

function randomCpu(random: Random, { isCpuBusy }: Weather): NodeSnapshot['cpu'] {
  if (isCpuBusy) return { availableCores: 0.02, cores: 2 };
  return random() < 0.5 ? undefined : { availableCores: random() * 2, cores: 2 };
}

function randomStrain(random: Random): PodPressure {
  const share = (): number => pick(random, RATIOS);
  return { waiting: { memory: share(), cpu: share() }, stalled: {}, limitHitsPerSecond: share(), throttled: share() };
}

/** A node that lives on its own: pods come, grow, end and come back under the same name with another UID. */
export class FuzzedNode {
  readonly #random: Random;
  #now = 0;
  #pods: NodePod[];
  #incarnation = 0;
  #available = 500;
  #weather: Weather = { until: 0, memory: undefined, isCpuBusy: false };
  /** When pods that were asked to end will have; one that is not in it never does. */
  readonly #leavesAt = new Map<string, number>();
  policy: AgentPolicy;

  constructor(random: Random) {
    this.#random = random;
    this.#pods = Array.from({ length: 2 + Math.floor(random() * 6) }, (_, index) => randomPod(random, index, 0));
    this.policy = randomPolicy(random);
  }

  /** Time mostly moves on, stands still now and then, jumps sometimes; it is monotonic, so it never goes back. */
  snapshot(): NodeSnapshot {
    const random = this.#random;
    this.#now += pick(random, [0, 100, 100, 1000, 10_000, random() < 0.02 ? 3_600_000 : 100]);
    if (this.#now >= this.#weather.until) this.#weather = nextWeather(random, this.#weather, this.#now);
    this.#available = this.#nextAvailable();
    this.#letGo();
    if (random() < 0.03) this.#replace(Math.floor(random() * this.#pods.length));
    if (random() < 0.02) this.policy = randomPolicy(random);
    const base = snapshot({ now: this.#now, ...this.#memory(), pods: this.#pods });
    const namespaces = new Map([...base.namespaces].filter(([name]) => name !== 'unknown'));
    if (namespaces.has('ignored')) namespaces.set('ignored', 'ignored');
    const podPressures = new Map(this.#pods.map(({ uid = '' }) => [uid, randomStrain(random)]));
    const doubt = { code: 'SourcesDisagree', text: '', facts: {} };
    return {
      ...base,
      namespaces,
      podPressures,
      stalls: randomStalls(random, this.#weather),
      cpu: randomCpu(random, this.#weather),
      reclaim: {
        scanned: pick(random, [undefined, 0, 100 * MIB]),
        stolen: pick(random, [0, 50 * MIB]),
        refaulted: pick(random, [undefined, 0, 9 * MIB]),
        swappedIn: 0,
      },
      avoided: new Set(random() < 0.2 ? ['a/ReplicaSet/o1'] : []),
      doubts: new Map(random() < 0.05 ? [['memory.available', doubt]] : []),
      isKubeletReady: random() < 0.5,
      hasMemoryPressure: random() < 0.2,
      closedGates: random() < 0.05 ? [{ code: 'WarmingUp', text: '', facts: {} }] : [],
    };
  }

  #memory(): { readonly availableMiB: number | undefined; readonly reclaimableMiB?: number } {
    if (this.#random() < 0.05) return { availableMiB: undefined };
    const availableMiB = Math.floor(this.#available);
    if (this.#random() < 0.5) return { availableMiB };
    return { availableMiB, reclaimableMiB: Math.floor(this.#available * this.#random()) };
  }

  /** The pod that the preflight reads from the API server: often different from the one that was decided on. */
  readAgain(uid: string): FreshPod {
    const random = this.#random;
    const found = this.#pods.find((pod) => pod.uid === uid);
    if (found === undefined || random() < 0.05) return { kind: 'gone' };
    if (random() < 0.05) return { kind: 'unknown', message: '' };
    const changed = random() < 0.1 ? { ...found, annotations: pick(random, ANNOTATIONS) } : found;
    const pod = nodePod(random() < 0.05 ? { ...changed, uid: `${uid}-successor` } : changed);
    return { kind: 'found', pod, namespace: random() < 0.05 ? 'ignored' : 'open' };
  }

  /** Asked again it keeps the time it was given first, as with a real kubelet. */
  end(uid: string, gracePeriodSeconds: number): void {
    const random = this.#random;
    const index = this.#pods.findIndex((pod) => pod.uid === uid);
    const pod = this.#pods[index];
    if (pod === undefined) return;
    this.#pods[index] = { ...pod, conditions: EVICTED, deletion: { at: 0, gracePeriodSeconds } };
    if (!this.#leavesAt.has(uid) && random() < 0.95)
      this.#leavesAt.set(uid, this.#now + random() * gracePeriodSeconds * 1000);
  }

  #nextAvailable(): number {
    const random = this.#random;
    const { memory } = this.#weather;
    const wanders = this.#available + (random() - 0.55) * 200;
    const next = memory === undefined ? wanders : this.#available + (memory - this.#available) * random();
    return Math.max(0, Math.min(1000, next));
  }

  #letGo(): void {
    for (const [uid, at] of this.#leavesAt) {
      if (this.#now < at) continue;
      this.#leavesAt.delete(uid);
      const index = this.#pods.findIndex((pod) => pod.uid === uid);
      if (index >= 0) this.#replace(index);
    }
  }

  #replace(index: number): void {
    this.#incarnation += 1;
    this.#pods[index] = randomPod(this.#random, index, this.#incarnation);
  }
}

/** How long ranking takes for 110, 500 and 5,000 pods, preparing and ranking apart. JSON on stdout, times in microseconds. */
import type { Pod } from '#shared/domain/pod/pod.ts';
import { decodePod } from '#shared/kube/decode/decode-pod.ts';
import { type Candidate, type RankingFacts, prepareCandidate, rankingFacts } from '#shared/domain/ranking/candidate.ts';
import type { PodUsage } from '#shared/domain/ranking/pod-usage.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { type RankingOrder, kubeletOrder, policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import { quantile, rounded } from '#bench/shared/support/quantile.ts';
import { randomSource } from '#test/fakes/random-source.ts';

const SIZES = [110, 500, 5_000];
const TARGETS: Readonly<Record<number, number>> = { 110: 20, 500: 150, 5_000: 2_500 };
const AGAINST = { signal: 'memory.available', layout: 'single' } as const;
const MI = 2 ** 20;
const WARM_UP = 300;
const ROUNDS = 500;

const ORDERS: Readonly<Record<string, RankingOrder>> = {
  kubelet: kubeletOrder('memory'),
  policy: policyOrder({ ranking: 'Kubernetes', missingStats: 'Never', daemonSets: 'Last' }, 'memory'),
};

function createPod(index: number, random: () => number): Pod {
  const memory = `${Math.floor(random() * 64) * 16}Mi`;
  const container = { name: 'c', resources: random() < 0.2 ? {} : { requests: { memory } } };
  const decoded = decodePod({
    metadata: { name: `pod-${index}`, namespace: 'default', uid: `uid-${Math.floor(random() * 2 ** 48).toString(16)}` },
    spec: { containers: [container], priority: [0, 100, 1000][Math.floor(random() * 3)] },
  });
  if (!decoded.ok) throw new Error(decoded.message);
  return decoded.value;
}

function createUsage({ uid }: Pod, random: () => number): PodUsage {
  return {
    uid,
    memory: { at: 0, workingSetBytes: Math.floor(random() * 1024 * MI) },
    processCount: 10,
    cpuNanoCores: 1e8,
    ioBytesPerSecond: 0,
    ephemeralStorageBytes: 0,
    containers: [],
    volumes: [],
  };
}

function prepare(facts: readonly RankingFacts[], usages: readonly PodUsage[]): readonly Candidate[] {
  return facts.map((each, index) => prepareCandidate(each, usages[index], AGAINST));
}

interface Timing {
  readonly median: number;
  readonly p99: number;
}

function time(task: () => unknown): Timing {
  for (let round = 0; round < WARM_UP; round++) task();
  const microseconds = Array.from({ length: ROUNDS }, () => {
    const start = process.hrtime.bigint();
    task();
    return Number(process.hrtime.bigint() - start) / 1000;
  });
  return { median: rounded(quantile(microseconds, 0.5), 1), p99: rounded(quantile(microseconds, 0.99), 1) };
}

function measure(size: number): unknown {
  const random = randomSource(size).next;
  const pods = Array.from({ length: size }, (_, index) => createPod(index, random));
  const usages = pods.map((pod) => createUsage(pod, random));
  const facts = pods.map(rankingFacts);
  const candidates = prepare(facts, usages);
  const rank = Object.entries(ORDERS).map(([name, order]) => [name, time(() => rankPods(candidates, order))] as const);
  return {
    pods: size,
    target: TARGETS[size],
    facts: time(() => pods.map(rankingFacts)),
    prepare: time(() => prepare(facts, usages)),
    rank: Object.fromEntries(rank),
    isWithinTarget: rank.every(([, { median }]) => median <= (TARGETS[size] ?? 0)),
  };
}

console.log(JSON.stringify({ benchmark: 'rank', unit: 'microseconds', results: SIZES.map(measure) }, undefined, 2));

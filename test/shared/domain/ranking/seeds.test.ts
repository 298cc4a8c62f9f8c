import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { chooseVictims, withinRequestProtection } from '#shared/domain/eviction/choose-victims.ts';
import { criticalProtection } from '#shared/domain/eviction/protection.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import { rankPods } from '#shared/domain/ranking/rank-pods.ts';
import { type RankingOrder, policyOrder } from '#shared/domain/ranking/ranking-order.ts';
import { quantity } from '#test/shared/domain/pressure/threshold-builder.ts';
import { candidate, names, pod, usage } from './builders.ts';

interface SeedPod {
  readonly name: string;
  readonly priority: number;
  readonly memoryRequest: string;
  readonly memoryUsage?: string;
}

type ByOrder = Readonly<Record<'kubernetes' | 'shareOfRequest', readonly string[]>>;

interface Outcome {
  readonly evictionOrder?: ByOrder;
  readonly evicted?: ByOrder | readonly string[];
  readonly evictableWithProtectWithinRequest?: ByOrder;
}

interface Seed {
  readonly title: string;
  readonly given: {
    readonly running?: readonly SeedPod[];
    readonly pods?: readonly SeedPod[];
    readonly pending?: SeedPod;
  };
  readonly then: Outcome | readonly Outcome[];
}

const RULES = { missingStats: 'Never', daemonSets: 'Last' } as const;
const ORDERS: Readonly<Record<keyof ByOrder, RankingOrder>> = {
  kubernetes: policyOrder({ ranking: 'Kubernetes', ...RULES }, 'memory'),
  shareOfRequest: policyOrder({ ranking: 'ShareOfRequest', ...RULES }, 'memory'),
};

function readSeed(id: string): Seed {
  return JSON.parse(readFileSync(new URL(`../../../vectors/seeds/${id}.json`, import.meta.url), 'utf8')) as Seed;
}

/** The pod that came later uses anything above 1G and within its request. */
function prepare({ name, priority, memoryRequest, memoryUsage = '1500M' }: SeedPod): Candidate {
  const of = pod(name, { priority, requests: { memory: memoryRequest } });
  return candidate(of, usage({ memoryBytes: quantityNumber(quantity(memoryUsage)) }));
}

function outcomeOf({ then }: Seed): Outcome {
  const all: readonly Outcome[] = Array.isArray(then) ? (then as readonly Outcome[]) : [then as Outcome];
  return all.find(({ evictionOrder }) => evictionOrder !== undefined) ?? {};
}

const BOTH = ['kubernetes', 'shareOfRequest'] as const;

describe.each(['s0-17', 's0-18'])('seed %s: after the preemption, under memory pressure', (id) => {
  const seed = readSeed(id);
  const { evictionOrder, evicted } = outcomeOf(seed);
  const left = [
    ...(seed.given.running ?? []).filter(({ name }) => name !== 'burstable'),
    ...[seed.given.pending ?? []].flat(),
  ];

  test.each(BOTH)('the order and the victim with %s are those of the table', (order) => {
    const ranked = rankPods(left.map(prepare), ORDERS[order]);
    const rules = { protectionOf: ({ facts }: Candidate) => criticalProtection(facts.pod), most: 1, gap: Infinity };
    expect(names(ranked)).toEqual(evictionOrder?.[order]);
    expect(names(chooseVictims(ranked, rules).victims)).toEqual(
      Array.isArray(evicted) ? evicted : (evicted as ByOrder)[order],
    );
  });
});

describe('seed s1-30: above request goes before priority', () => {
  const seed = readSeed('s1-30');
  const { evictionOrder, evictableWithProtectWithinRequest } = outcomeOf(seed);
  const candidates = (seed.given.pods ?? []).map(prepare);

  test.each(BOTH)('the order with %s is that of the table', (order) => {
    expect(names(rankPods(candidates, ORDERS[order]))).toEqual(evictionOrder?.[order]);
  });

  test.each(BOTH)('pods within their request are spared where the policy protects them, with %s', (order) => {
    const rules = { protectionOf: withinRequestProtection, most: 10, gap: Infinity };
    const { victims } = chooseVictims(rankPods(candidates, ORDERS[order]), rules);
    expect(names(victims)).toEqual(evictableWithProtectWithinRequest?.[order]);
  });
});

import { describe, expect, test } from 'vitest';
import type { PassPorts } from '#agent/pass.ts';
import type { Tamper } from './agent.ts';
import { describeFinding, hunt, keyOf } from './hunt.ts';
import type { Law } from './laws.ts';
import { isOpen } from './open-findings.ts';
import { FIRST_SEED } from './seed.ts';

/** Few enough for every run; `laws.long.test.ts` runs many more. */
const EPISODES = 400;
const TIMEOUT_MS = 120_000;

describe('a node with the agent beside the kubelet and the kernel', () => {
  test(
    `${EPISODES} episodes break no law, and leave the node no worse than with the kubelet alone`,
    async () => {
      const { findings, alone, withAgent } = await hunt(FIRST_SEED, EPISODES);
      const news = [...findings.values()].filter(({ breach }) => !isOpen(keyOf(breach)));
      const texts = await Promise.all(news.slice(0, 5).map(describeFinding));
      expect(texts.join('\n\n'), `PLIMSOLL_TEST_SEED=${FIRST_SEED}`).toBe('');
      expect(withAgent.oomKills).toBeLessThan(alone.oomKills);
      expect(withAgent.shortMs).toBeLessThan(alone.shortMs);
      expect(withAgent.innocents).toBeLessThanOrEqual(alone.innocents);
    },
    TIMEOUT_MS,
  );
});

/** Agents that do wrong, each with the law that must notice. */
const WRONG: Readonly<Record<string, readonly [Law, Tamper]>> = {
  'never acts': ['asked', withPolicy({ thresholds: [] })],
  'allows no more than one eviction in ten minutes': ['asked', withLimits({ perTenMinutes: 1, perMinute: 1 })],
  'takes every pod’s request for a gigabyte': ['inside', withFacts(() => 1024)],
  'takes every pod for one without a request': ['inside', withFacts(() => 0)],
  'evicts in dry run': ['dryRun', withPolicy({ mode: 'Enforce' })],
  'says that it is warming up': ['gate', (ports) => ({ ...ports, closedGates: () => [WARMING_UP] })],
};
const WARMING_UP = { code: 'WarmingUp', text: 'the agent has just started; evictions begin in 9 s', facts: {} };

function withPolicy(changes: Partial<ReturnType<PassPorts['policy']>>): Tamper {
  return (ports) => ({ ...ports, policy: () => ({ ...ports.policy(), ...changes }) });
}

function withLimits(changes: Partial<ReturnType<PassPorts['policy']>['limits']>): Tamper {
  return (ports) => ({
    ...ports,
    policy: () => ({ ...ports.policy(), limits: { ...ports.policy().limits, ...changes } }),
  });
}

function withFacts(requestMiB: () => number): Tamper {
  const memory = { mantissa: requestMiB() * 1024 * 1024, exponent: 0 };
  return (ports) => {
    const alive: PassPorts['pods']['alive'] = () =>
      ports.pods
        .alive()
        .map((pod) => ({ ...pod, facts: { ...pod.facts, requests: { ...pod.facts.requests, memory } } }));
    return { ...ports, pods: { ...ports.pods, alive } };
  };
}

/** How many breaches of each law the episodes show. */
async function countBreaches(tamper?: Tamper): Promise<ReadonlyMap<Law, number>> {
  const { findings } = await hunt(FIRST_SEED, EPISODES, tamper);
  const counts = new Map<Law, number>();
  for (const { breach, seeds } of findings.values())
    counts.set(breach.law, (counts.get(breach.law) ?? 0) + seeds.length);
  return counts;
}

describe('the laws notice an agent that', () => {
  const real = countBreaches();

  test.each(Object.entries(WRONG))(
    '%s',
    async (_name, [law, tamper]) => {
      const [wrong, right] = [await countBreaches(tamper), await real];
      expect(wrong.get(law) ?? 0).toBeGreaterThan(2 * (right.get(law) ?? 0));
    },
    TIMEOUT_MS,
  );
});

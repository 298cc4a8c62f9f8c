import { describe, expect, test } from 'vitest';
import type { Tamper } from './agent.ts';
import { lendRoom } from './lent-room.ts';
import { FIRST_SEED } from './seed.ts';

const TIMEOUT_MS = 120_000;
/** Share by which nodes may be short for longer: the last pod in spare room goes while another one leaks. */
const LONGER = 1.1;

/** Treats pods in spare room like all others. */
const forgetful: Tamper = (ports) => {
  const alive = () =>
    ports.pods.alive().map((known) => ({ ...known, facts: { ...known.facts, isInSpareRoom: false } }));
  return { ...ports, pods: { ...ports.pods, alive } };
};

describe('what nodes lend is taken back', () => {
  test.each([
    [120, 0.15, 40],
    [60, 0.5, 40],
  ])(
    'in episodes of %i s, before it harms a pod that is not in spare room (growth times %d)',
    async (seconds, growth, count) => {
      const { free, lent, takenBack, breaches } = await lendRoom(FIRST_SEED, count, { growth, seconds });
      expect(breaches).toEqual([]);
      expect(lent.innocents).toBeLessThanOrEqual(free.innocents);
      expect(lent.kills).toBeLessThanOrEqual(free.kills);
      expect(lent.asked).toBeLessThanOrEqual(free.asked);
      expect(lent.shortMs).toBeLessThanOrEqual(free.shortMs * LONGER);
      expect(takenBack).toBeGreaterThan(count);
    },
    TIMEOUT_MS,
  );

  test.each([
    ['small pods hold up the eviction of one that leaks fast', 30_000_068, 60, 0.5],
    ['a pod ignores SIGTERM and memory runs out faster than at first', 30_300_144, 30, 1],
    ['a pod ignores SIGTERM while others grow as well', 30_300_129, 30, 1],
    ['a pod grows within its request', 30_300_016, 30, 1],
    ['the last pod gave back so much that memory seems to last', 40_000_827, 60, 0.5],
    ['the same with more left', 40_001_398, 60, 0.5],
  ])('as soon as memory was free: %s', async (_, seed, seconds, growth) => {
    const { free, lent, breaches } = await lendRoom(seed, 1, { seconds, growth, hasBudgets: false });
    expect(breaches).toEqual([]);
    expect([lent.kills, lent.shortMs]).toEqual([free.kills, free.shortMs]);
  });

  test(
    'which an agent that knows nothing of spare room does at the cost of others',
    async () => {
      const episodes = { growth: 0.15, seconds: 120 };
      const right = await lendRoom(FIRST_SEED, 20, episodes);
      const wrong = await lendRoom(FIRST_SEED, 20, { ...episodes, tamper: forgetful });
      expect(wrong.lent.asked).toBeGreaterThan(1.5 * right.lent.asked);
    },
    TIMEOUT_MS,
  );
});

import { expect } from 'vitest';
import { describeFinding, hunt, keyOf } from './hunt.ts';
import { isOpen } from './open-findings.ts';

/** Expects that the episodes of consecutive seeds break no law, and are together no worse than with the kubelet alone. */
export async function expectNoBreach(firstSeed: number, count: number): Promise<void> {
  const { findings, alone, withAgent } = await hunt(firstSeed, count);
  const news = [...findings.values()].filter(({ breach, seeds }) => !isOpen(keyOf(breach), seeds));
  const texts = await Promise.all(news.slice(0, 5).map(describeFinding));
  expect(texts.join('\n\n'), `PLIMSOLL_TEST_SEED=${firstSeed}`).toBe('');
  expect(withAgent.oomKills).toBeLessThan(alone.oomKills);
  expect(withAgent.shortMs).toBeLessThan(alone.shortMs);
  expect(withAgent.innocents).toBeLessThanOrEqual(alone.innocents);
}

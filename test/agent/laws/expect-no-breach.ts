import { expect } from 'vitest';
import { describeFinding, hunt } from './hunt.ts';

/** Expects that the episodes of consecutive seeds break no law, and are together no worse than with the kubelet alone. */
export async function expectNoBreach(firstSeed: number, count: number): Promise<void> {
  const { findings, alone, withAgent } = await hunt(firstSeed, count);
  const texts = await Promise.all([...findings.values()].slice(0, 5).map(describeFinding));
  expect(texts.join('\n\n'), `PLIMSOLL_TEST_SEED=${firstSeed}`).toBe('');
  expect(withAgent.oomKills).toBeLessThan(alone.oomKills);
  expect(withAgent.shortMs).toBeLessThan(alone.shortMs);
  expect(withAgent.innocents).toBeLessThanOrEqual(alone.innocents);
}

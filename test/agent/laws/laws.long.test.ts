import { expect, test } from 'vitest';
import { describeFinding, hunt, keyOf } from './hunt.ts';
import { isOpen } from './open-findings.ts';
import { FIRST_SEED } from './seed.ts';

const EPISODES = 200_000;

test(`${EPISODES} episodes break no law, and leave the node no worse than with the kubelet alone`, async () => {
  const { findings, alone, withAgent } = await hunt(FIRST_SEED, EPISODES);
  const news = [...findings.values()].filter(({ breach }) => !isOpen(keyOf(breach)));
  const texts = await Promise.all(news.slice(0, 5).map(describeFinding));
  expect(texts.join('\n\n'), `PLIMSOLL_TEST_SEED=${FIRST_SEED}`).toBe('');
  expect(withAgent.oomKills).toBeLessThan(alone.oomKills);
  expect(withAgent.shortMs).toBeLessThan(alone.shortMs);
  expect(withAgent.innocents).toBeLessThanOrEqual(alone.innocents);
});

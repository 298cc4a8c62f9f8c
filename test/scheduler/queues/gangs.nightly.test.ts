import { expect, test } from 'vitest';
import { changingLoop } from './gang-day.ts';
import { TIMEOUT_MS } from './gang-loop.ts';

const FIRST_SEED = Number(process.env['PLIMSOLL_TEST_SEED'] ?? 2);

test.each(Array.from({ length: 30 }, (_, index) => FIRST_SEED + index))(
  'while leaders and kube-schedulers are killed and writes are lost (seed %i), no gang runs in part for longer than the timeout, and all run in the end',
  { timeout: 120_000 },
  async (seed) => {
    const { loop, second, left, longestPart } = changingLoop(seed);
    for (let at = 0; at < 900; at += 1) await second(at);
    expect([loop.broken, left()]).toEqual([[], []]);
    expect(longestPart()).toBeLessThanOrEqual(TIMEOUT_MS / 1_000);
  },
);

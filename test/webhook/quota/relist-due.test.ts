import { describe, expect, test } from 'vitest';
import { MINUTE_MS } from '#shared/domain/base/durations.ts';
import { isRelistDue, type EpochTimes } from '#webhook/quota/pod-list.ts';

function times(more: Partial<EpochTimes>): EpochTimes {
  return { now: 0, begunAt: 0, listMs: 1_000, awaitedSince: undefined, ...more };
}

describe('isRelistDue', () => {
  test.each<[string, Partial<EpochTimes>, number, boolean]>([
    ['not while the first lists are under way', { now: 600 * MINUTE_MS, listMs: undefined }, 0, false],
    ['not before half an hour', { now: 30 * MINUTE_MS - 1 }, 0, false],
    ['after half an hour at the soonest', { now: 30 * MINUTE_MS }, 0, true],
    ['not then where the spread is an hour', { now: 45 * MINUTE_MS }, 0.999, false],
    ['after an hour at the latest', { now: 60 * MINUTE_MS }, 0.999, true],
    ['not within 300 times what lists take', { now: 60 * MINUTE_MS, listMs: 20_000 }, 0, false],
    ['after 300 times what lists take', { now: 100 * MINUTE_MS, listMs: 20_000 }, 0, true],
    ['not when a proof has been waited for briefly', { now: 49_000, awaitedSince: 0 }, 0, false],
    ['when a proof has been waited for 50 times as long as lists take', { now: 50_000, awaitedSince: 0 }, 0, true],
    ['not when the epoch is young', { now: 60_000, awaitedSince: 0, begunAt: 20_000 }, 0, false],
    [
      'when a proof has been waited for ten seconds, however fast lists are',
      { now: 10_000, awaitedSince: 0, listMs: 1 },
      0,
      true,
    ],
  ])('%s', (_, more, spread, isDue) => {
    expect(isRelistDue(times(more), spread)).toBe(isDue);
  });
});

import { describe, expect, test } from 'vitest';
import {
  advanceHeadroomTrend,
  leastHeadroom,
  NO_HEADROOM_TREND,
  pollingInterval,
} from '#agent/decide/shortage/polling-interval.ts';
import { wholeQuantity } from '#shared/domain/pressure/observation.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';

const GI = 1024 ** 3;
const PERIODS = { nearMs: 100, farMs: 1_000, raceMs: 20 };

describe('pollingInterval', () => {
  test.each([
    ['the far one where nothing is known', NO_HEADROOM_TREND, 1_000],
    ['what the worst hog needs for the room, at 3 GiB a second', { headroom: 1.5 * GI, rate: 0 }, 500],
    ['never longer than the far one', { headroom: 30 * GI, rate: 0 }, 1_000],
    ['never shorter than the near one without a loss', { headroom: 1, rate: 0 }, 100],
    ['until the crossing at the rate of the loss', { headroom: 5_000, rate: 100 }, 50],
    ['the usual one where the crossing is further away', { headroom: 3 * GI, rate: 1 }, 1_000],
    ['never shorter than the race', { headroom: 500, rate: 100 }, 20],
    ['the near one below the threshold', { headroom: -5_000, rate: 100 }, 100],
    ['the near one at the threshold', { headroom: 0, rate: 100 }, 100],
  ])('is %s', (_, headroomTrend, period) => {
    expect(pollingInterval({ at: 0, ...headroomTrend }, PERIODS)).toBe(period);
  });
});

describe('advanceHeadroomTrend', () => {
  const before = { at: 1_000, headroom: 10_000, rate: 4 };
  test.each([
    ['a faster loss counts at once', 9_000, 1_100, 10],
    ['a slower one counts by and by', 9_900, 1_100, 2],
    ['room that grows halves the rate', 11_000, 1_100, 2],
    ['a pass at the same time changes nothing', 0, 1_000, 2],
    ['a clock that went back says nothing new', 0, 900, 2],
  ])('%s', (_, headroom, now, rate) => {
    expect(advanceHeadroomTrend(before, headroom, now)).toEqual({ at: now, headroom, rate });
  });

  test('the first pass has no rate', () => {
    expect(advanceHeadroomTrend(NO_HEADROOM_TREND, 10_000, 1_000)).toEqual({ at: 1_000, headroom: 10_000, rate: 0 });
  });
});

describe('leastHeadroom', () => {
  const observed = (bytes: number) => ({
    available: wholeQuantity(bytes, 'BinarySI'),
    capacity: wholeQuantity(8 * GI, 'BinarySI'),
    at: 0,
  });
  test.each([
    ['infinite without a threshold', [], Infinity],
    ['the least above any threshold', [threshold('memory.available', '1Gi'), threshold('memory.available', '2Gi')], GI],
    ['negative below one', [threshold('memory.available', '4Gi')], -GI],
    ['of memory alone', [threshold('pid.available', '1Gi'), threshold('memory.available', '2Gi')], GI],
    ['infinite for what was not observed', [threshold('allocatableMemory.available', '1Gi')], Infinity],
  ])('is %s', (_, thresholds, headroom) => {
    const observations = new Map([
      ['memory.available', observed(3 * GI)],
      ['pid.available', observed(GI)],
    ] as const);
    expect(leastHeadroom(thresholds, observations)).toBe(headroom);
  });
});

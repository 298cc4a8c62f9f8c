import { describe, expect, test } from 'vitest';
import {
  advanceHeadroomTrend,
  leastHeadroom,
  NO_HEADROOM_TREND,
  pollingInterval,
} from '#shared/decide/eviction/memory-trend.ts';
import { wholeQuantity } from '#shared/domain/pressure/signal.ts';
import { threshold } from '#test/shared/domain/pressure/threshold-builder.ts';
import { FIRST_STATE } from '#shared/decide/eviction/agent-state.ts';
import { decide } from '#shared/decide/eviction/decide.ts';
import { MIB, policy, snapshot } from '#test/agent/node-scene.ts';

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

describe('the time between passes', () => {
  const periods = { nearMs: 100, farMs: 1000, raceMs: 10 };
  const state = (headroom: number) => ({ at: 0, headroom, rate: 0 });

  test('is as long as the fastest allocation needs for the headroom', () => {
    expect(pollingInterval(NO_HEADROOM_TREND, periods)).toBe(1000);
    expect(pollingInterval(state(1.5 * 1024 ** 3), periods)).toBeCloseTo(500);
    expect(pollingInterval(state(-5), periods)).toBe(100);
  });

  test.each<[sentence: string, headrooms: readonly number[], everyMs: number, expected: number]>([
    ['a crossing in sight is met when it comes', [300 * MIB, 200 * MIB, 100 * MIB], 200, 100],
    ['a fast one is met in time', [300 * MIB, 200 * MIB, 100 * MIB], 50, 50],
    ['the last bytes are watched as often as may be', [300 * MIB, 200 * MIB, 1 * MIB], 100, 10],
    ['a slow approach changes nothing', [300 * MIB, 299 * MIB, 298 * MIB], 100, 100],
    ['nor does room that grows', [100 * MIB, 200 * MIB, 300 * MIB], 100, 100],
    ['once it is crossed there is nothing to race for', [100 * MIB, 50 * MIB, -1 * MIB], 100, 100],
    ['what was not known before says nothing about a rate', [Infinity, Infinity, 50 * MIB], 100, 100],
  ])('%s', (_sentence, headrooms, everyMs, expected) => {
    const headroomTrend = headrooms.reduce(
      (previous, headroom, index) => advanceHeadroomTrend(previous, headroom, (index + 1) * everyMs),
      NO_HEADROOM_TREND,
    );
    expect(pollingInterval(headroomTrend, periods)).toBeCloseTo(expected);
  });

  test('headroom is to the threshold that is crossed first; nothing known is far', () => {
    const { pressure } = decide(FIRST_STATE, snapshot({ now: 0, availableMiB: 500 }), policy()).state;
    expect(leastHeadroom(policy().thresholds, pressure.observations)).toBe(300 * MIB);
    expect(leastHeadroom(policy().thresholds, new Map())).toBe(Number.POSITIVE_INFINITY);
  });
});

import { describe, expect, test } from 'vitest';
import {
  advanceRecent,
  type RecentFigures,
  steadyFillRate,
  usualAvailable,
} from '#shared/decide/eviction/shortage/advance-thresholds.ts';
import { observe } from '#shared/domain/pressure/signal.ts';
import { memoryReadings, MIB } from '#test/agent/node-scene.ts';

/** MiB by the millisecond at which they were read. */
type Series = readonly (readonly [atMs: number, mebibytes: number])[];

function samplesOf(series: Series) {
  let recent: RecentFigures = new Map();
  for (const [at, mebibytes] of series)
    recent = advanceRecent(recent, observe(memoryReadings(mebibytes, 1000, at)), at);
  return recent.get('memory.available') ?? [];
}

function every(periodMs: number, untilMs: number, mebibytesAt: (atMs: number) => number): Series {
  return Array.from({ length: untilMs / periodMs + 1 }, (_, index) => [
    index * periodMs,
    mebibytesAt(index * periodMs),
  ]);
}

describe('advanceRecent', () => {
  test('keeps one second in a few samples, whatever the interval, and always the newest', () => {
    const samples = samplesOf(every(10, 5000, (at) => 5000 - at));
    expect(samples.at(-1)).toEqual({ at: 5000, available: 0 });
    expect(samples[0]?.at).toBeGreaterThanOrEqual(4000);
    expect(samples.length).toBeGreaterThan(10);
    expect(samples.length).toBeLessThan(25);
  });

  test('a measurement that is observed twice counts once', () => {
    let recent: RecentFigures = new Map();
    for (const now of [0, 100, 200]) recent = advanceRecent(recent, observe(memoryReadings(500, 1000, 0)), now);
    expect(recent.get('memory.available')).toEqual([{ at: 0, available: 500 * MIB }]);
  });

  test('a signal that is no longer known is dropped', () => {
    const recent = advanceRecent(new Map(), observe(memoryReadings(500, 1000, 0)), 0);
    expect(advanceRecent(recent, new Map(), 100).size).toBe(0);
  });
});

describe('usualAvailable', () => {
  test.each<[sentence: string, series: Series, expected: number | undefined]>([
    ['nothing is known', [], undefined],
    ['one measurement is what there is', [[0, 70]], 70],
    [
      'of two the smaller',
      [
        [0, 70],
        [100, 50],
      ],
      50,
    ],
    ['a moment of relief is passed over', every(100, 900, (at) => (at === 500 ? 900 : 50)), 50],
    ['so is a dip', every(100, 900, (at) => (at === 500 ? 0 : 400)), 400],
    [
      'what was more than a second ago does not count',
      [
        [0, 900],
        [1100, 900],
        [2200, 50],
      ],
      50,
    ],
  ])('%s', (_sentence, series, expected) => {
    expect(usualAvailable(samplesOf(series))).toBe(expected === undefined ? undefined : expected * MIB);
  });
});

describe('steadyFillRate', () => {
  const perSecond = (series: Series): number => (steadyFillRate(samplesOf(series)) * 1000) / MIB;

  test.each<[periodMs: number, rate: number]>([
    [10, 100],
    [100, 100],
    [100, 300],
    [250, 40],
  ])('observed every %d ms, %d MiB a second are measured as such', (periodMs, rate) => {
    expect(perSecond(every(periodMs, 1000, (at) => 900 - (at * rate) / 1000))).toBeCloseTo(rate, 0);
  });

  test.each<[sentence: string, series: Series]>([
    ['one step is no rate, however high', every(100, 1000, (at) => (at < 800 ? 900 : 500))],
    [
      'two measurements are not enough',
      [
        [0, 900],
        [100, 500],
      ],
    ],
    ['what rises again does not fall', every(100, 1000, (at) => (at < 700 ? 900 - at : 200 + at))],
    ['a pause at the end is the end of it', every(100, 1000, (at) => Math.max(400, 900 - at))],
  ])('%s', (_sentence, series) => {
    expect(perSecond(series)).toBe(0);
  });
});

import { describe, expect, test } from 'vitest';
import { createLatestRate } from '#agent/observe/source/counter-window.ts';
import { createStallMeter } from '#agent/observe/source/stall-meter.ts';

type Reading = readonly [atMs: number, value: number];

function rateAfter(readings: readonly Reading[]): number | undefined {
  const latest = createLatestRate(500, 3000);
  for (const [atMs, value] of readings) latest.add(value, atMs);
  return latest.rate();
}

const every = (periodMs: number, count: number, valueAt: (atMs: number) => number): readonly Reading[] =>
  Array.from({ length: count }, (_, index) => [index * periodMs, valueAt(index * periodMs)]);

describe('createLatestRate', () => {
  test.each<[sentence: string, readings: readonly Reading[], expected: number | undefined]>([
    ['nothing yet', [], undefined],
    ['one reading has no rate', [[0, 5]], undefined],
    [
      'too short a time has none',
      [
        [0, 0],
        [400, 40],
      ],
      undefined,
    ],
    ['a pass each second spans the last second', every(1000, 5, (at) => at * at), (16e6 - 9e6) / 1000],
    ['ten passes a second span the last half second', every(100, 21, (at) => Math.min(at, 1500)), 0],
    ['a hundred a second do as well', every(10, 200, (at) => at * 2), 2],
    [
      'a counter that starts over starts over',
      [
        [0, 900],
        [1000, 0],
        [1400, 40],
      ],
      undefined,
    ],
    [
      'after a silence it starts over',
      [
        [0, 0],
        [4000, 400],
      ],
      undefined,
    ],
    [
      'what is no number is passed over',
      [
        [0, 0],
        [500, Number.NaN],
        [1000, 10],
      ],
      0.01,
    ],
  ])('%s', (_sentence, readings, expected) => {
    expect(rateAfter(readings)).toBe(expected);
  });
});

test('a stall meter shows within a second that no task stalls any more, while its windows still do', () => {
  const meter = createStallMeter('memory.pressure');
  let total = 0;
  for (let atMs = 0; atMs <= 71_000; atMs += 100) {
    if (atMs <= 70_000) total += 90_000;
    meter.note({ kind: 'reading', value: { someMicroseconds: total, fullMicroseconds: total } }, atMs);
  }
  const full = meter.ratios().filter(({ share }) => share === 'full');
  expect(full.map(({ windowMs, ratio }) => [windowMs, Math.round(ratio * 10) / 10])).toEqual([
    [500, 0],
    [10_000, 0.8],
    [60_000, 0.9],
  ]);
});

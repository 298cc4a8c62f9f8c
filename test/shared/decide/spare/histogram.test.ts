import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeHistogram,
  emptyHistogram,
  encodeHistogram,
  type Histogram,
  percentileOf,
  withCase,
} from '#shared/decide/spare/histogram.ts';

const DAY = 86_400_000;

function histogramOf(shares: readonly number[], everyMs = 300_000): Histogram {
  return shares.reduce((before, share, index) => withCase(before, share, index * everyMs, DAY), emptyHistogram(0));
}

describe('a histogram of shares', () => {
  test.each<[readonly number[], number, number]>([
    [[], 99, 0],
    [[0.5], 50, 0.5],
    [[0.25, 0.25, 0.25, 0.75], 50, 0.25],
    [[0.25, 0.25, 0.25, 0.75], 100, 0.75],
    [[2], 100, 1],
    [[-1, Number.MIN_VALUE], 100, 0],
  ])('of %j has the percentile %d at %d', (shares, percent, expected) => {
    expect(percentileOf(histogramOf(shares, 0), percent)).toBe(expected);
  });

  test('forgets: a case counts half after a half-life, and nothing after seven', () => {
    const before = withCase(emptyHistogram(0), 0.9, 0, DAY);
    expect(percentileOf(withCase(before, 0.1, DAY, DAY), 60)).toBeCloseTo(0.1, 1);
    expect(percentileOf(withCase(before, 0.1, 6 * DAY, DAY), 100)).toBeCloseTo(0.9, 1);
    expect(percentileOf(withCase(before, 0.1, 8 * DAY, DAY), 100)).toBeCloseTo(0.1, 1);
  });

  test('is the same within a step after it was written and read, whatever is in it', () => {
    fc.assert(
      fc.property(fc.array(fc.double({ min: 0, max: 1.2, noNaN: true }), { maxLength: 400 }), (shares) => {
        const written = histogramOf(shares);
        const read = decodeHistogram(encodeHistogram(written), written.at) ?? emptyHistogram(0);
        expect(encodeHistogram(written).length).toBeLessThan(140);
        for (const percent of [50, 90]) {
          expect(percentileOf(read, percent)).toBeGreaterThanOrEqual(percentileOf(written, percent - 8));
          expect(percentileOf(read, percent)).toBeLessThanOrEqual(percentileOf(written, percent + 8));
        }
        expect(percentileOf(read, 100)).toBe(percentileOf(written, 100));
      }),
    );
  });

  test.each(['', 'x', '!'.repeat(128) + '1', '0'.repeat(128) + 'NaN', '0'.repeat(128) + '1e99', '0'.repeat(127)])(
    '%s is none',
    (text) => {
      expect(decodeHistogram(text, 0)).toBeUndefined();
    },
  );

  test('no text makes reading throw', () => {
    fc.assert(fc.property(fc.string(), (text) => void decodeHistogram(text, 0)));
  });
});

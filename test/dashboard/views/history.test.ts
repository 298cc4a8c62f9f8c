import fc from 'fast-check';
import { expect, test } from 'vitest';
import { NO_HISTORY, withReading } from '#dashboard/views/history.ts';

const HOUR_MS = 3_600_000;

test('readings stand parallel to their times, and a signal that starts later has gaps before', () => {
  const first = withReading(NO_HISTORY, 1_000, { memory: 0.5 });
  const second = withReading(first, 3_000, { memory: 0.6, pid: 0.1 });
  expect(second).toEqual({ times: [1_000, 3_000], ratios: { memory: [0.5, 0.6], pid: [null, 0.1] } });
  expect(withReading(second, 3_100, { memory: 0.7 })).toBe(second);
});

test('an hour is kept, the last two minutes in full, in a bounded number of points', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 500, max: 30_000 }), { maxLength: 800 }), (gaps) => {
      let now = 0;
      let history = NO_HISTORY;
      for (const gap of gaps) history = withReading(history, (now += gap), { memory: 0.5 });
      expect(history.times.length).toBeLessThanOrEqual(420);
      expect(history.ratios['memory'] ?? []).toHaveLength(history.times.length);
      expect(history.times.every((time) => now - time <= HOUR_MS)).toBe(true);
      expect(history.times).toEqual([...history.times].sort((a, b) => a - b));
    }),
    { numRuns: 30 },
  );
});

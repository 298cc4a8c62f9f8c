import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '#shared/domain/base/durations.ts';
import { type History, newerThan, NO_HISTORY, withReading } from '#dashboard/views/history.ts';

const START = Date.parse('2026-11-21T03:00:00Z');

/** Readings of one signal, in this order: `[milliseconds after the last one, used share]`. */
function play(readings: readonly (readonly [number, number])[]): { readonly history: History; readonly now: number } {
  let [now, history] = [START, NO_HISTORY];
  for (const [gap, ratio] of readings) history = withReading(history, (now += gap), { memory: ratio });
  return { history, now };
}

describe('withReading', () => {
  test('readings stand parallel to their times, and a signal that starts later has gaps before', () => {
    const first = withReading(NO_HISTORY, 1_000, { memory: 0.5 });
    const second = withReading(first, 3_000, { memory: 0.6, pid: 0.1 });
    expect(second).toEqual({ times: [1_000, 3_000], ratios: { memory: [0.5, 0.6], pid: [null, 0.1] } });
    expect(withReading(second, 3_000, { memory: 0.7 })).toBe(second);
  });

  test('of readings within a second the highest stays, and its time', () => {
    const { history } = play([
      [1_000, 0.4],
      [100, 0.9],
      [100, 0.5],
      [5_000, 0.4],
    ]);
    expect([history.times, history.ratios['memory']]).toEqual([
      [START + 1_100, START + 6_200],
      [0.9, 0.4],
    ]);
  });

  test.each([
    ['two minutes', 3 * MINUTE_MS],
    ['an hour', HOUR_MS + MINUTE_MS],
    ['a day', DAY_MS + HOUR_MS],
    ['five days', 5 * DAY_MS],
  ])('a spike of one reading is still there %s later, at its time', (_, later) => {
    const before = Array.from({ length: 30 }, () => [10_000, 0.4] as const);
    const after = Array.from({ length: Math.ceil(later / 30_000) }, () => [30_000, 0.4] as const);
    const { history } = play([...before, [10_000, 0.99], ...after]);
    const spike = START + 31 * 10_000;
    const at = history.ratios['memory']?.indexOf(0.99) ?? -1;
    expect([history.times[at], Math.max(...history.times) - spike >= later]).toEqual([spike, true]);
  });

  test('the highest reading of a week is kept, in order and in a bounded number of points', () => {
    const readings = fc.array(
      fc.tuple(fc.integer({ min: 500, max: 4 * HOUR_MS }), fc.float({ min: 0, max: 1, noNaN: true })),
      { minLength: 1, maxLength: 400 },
    );
    fc.assert(
      fc.property(readings, (given) => {
        const { history, now } = play(given);
        let at = START;
        const recent = given
          .map(([gap, ratio]) => ({ at: (at += gap), ratio }))
          .filter((each) => now - each.at <= 7 * DAY_MS);
        expect(Math.max(...(history.ratios['memory'] ?? []).map(Number))).toBe(
          Math.max(...recent.map(({ ratio }) => ratio)),
        );
        expect(history.ratios['memory']).toHaveLength(history.times.length);
        expect(history.times).toEqual([...new Set(history.times)].sort((a, b) => a - b));
        expect(history.times.every((time) => now - time <= 7 * DAY_MS)).toBe(true);
      }),
      { seed: 30, numRuns: 100 },
    );
  });

  test('a week of readings, the last ones every half second, is at most 420 points', () => {
    const week = Array.from({ length: (7 * DAY_MS) / MINUTE_MS }, () => [MINUTE_MS, 0.5] as const);
    const { history } = play([...week, ...Array.from({ length: 500 }, () => [500, 0.5] as const)]);
    expect(history.times.length).toBeLessThanOrEqual(420);
    expect(history.times.length).toBeGreaterThan(280);
  });
});

test('newerThan: what came after a time, parallel as before', () => {
  const history = { times: [1, 2, 3], ratios: { memory: [0.1, 0.2, 0.3], pid: [null, null, 0.5] } };
  expect(newerThan(history, -Infinity)).toEqual(history);
  expect(newerThan(history, 2)).toEqual({ times: [3], ratios: { memory: [0.3], pid: [0.5] } });
  expect(newerThan(history, 3)).toEqual(NO_HISTORY);
});

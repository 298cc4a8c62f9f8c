import { describe, expect, test } from 'vitest';
import { ageText, durationText } from '#shared/domain/base/texts.ts';

describe('durationText', () => {
  test.each<[number, string]>([
    [0, '0s'],
    [119, '119s'],
    [120, '2m'],
    [150, '2m30s'],
    [600, '10m'],
    [3 * 3600, '3h'],
    [3 * 3600 + 1800, '3h30m'],
    [30 * 3600, '30h'],
    [50 * 3600, '2d2h'],
    [20 * 86400, '20d'],
    [800 * 86400, '2y70d'],
    [-5, '0s'],
  ])('%i s is %s', (seconds, text) => {
    expect(durationText(seconds)).toBe(text);
  });
});

test('an age without a time is unknown, and one of a clock that is ahead is none', () => {
  const times = [undefined, Number.NaN, 0, 3_600_000];
  expect(times.map((at) => ageText(at, 5_000))).toEqual(['<unknown>', '<unknown>', '5s', '0s']);
});

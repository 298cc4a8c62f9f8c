import { describe, expect, test } from 'vitest';
import { durationSeconds, parseDuration } from '#shared/domain/pressure/parse-duration.ts';

const MAX_INT64 = 2n ** 63n - 1n;

describe('parseDuration', () => {
  test.each<[string, bigint]>([
    ['30s', 30_000_000_000n],
    ['1m30s', 90_000_000_000n],
    ['1h1m1s', 3_661_000_000_000n],
    ['.5m', 30_000_000_000n],
    ['5.s', 5_000_000_000n],
    ['1.5h', 5_400_000_000_000n],
    ['+5s', 5_000_000_000n],
    ['-5s', -5_000_000_000n],
    ['1us', 1_000n],
    ['1µs', 1_000n],
    ['1μs', 1_000n],
    ['100ms', 100_000_000n],
    ['0', 0n],
    ['-0s', 0n],
    ['0.0000000000000000000001h', 0n],
    ['00000000000000000000000001s', 1_000_000_000n],
    ['9223372036854775807ns', MAX_INT64],
    ['-9223372036854775808ns', -MAX_INT64 - 1n],
  ])('reads %j', (text, nanoseconds) => {
    expect(parseDuration(text)).toEqual({ ok: true, nanoseconds });
  });

  test.each<[string, string]>([
    ['', 'time: invalid duration ""'],
    ['-', 'time: invalid duration "-"'],
    ['abc', 'time: invalid duration "abc"'],
    ['.s', 'time: invalid duration ".s"'],
    ['10', 'time: missing unit in duration "10"'],
    ['5m30', 'time: missing unit in duration "5m30"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['30 s', 'time: unknown unit " s" in duration "30 s"'],
    ['1m-5s', 'time: unknown unit "m-" in duration "1m-5s"'],
    ['1"', 'time: unknown unit "\\"" in duration "1\\""'],
    ['1é\n', 'time: unknown unit "\\xc3\\xa9\\x0a" in duration "1\\xc3\\xa9\\x0a"'],
    ['10000000h', 'time: invalid duration "10000000h"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['99999999999999999999999', 'time: invalid duration "99999999999999999999999"'],
    ['9223372036s9223372036s', 'time: invalid duration "9223372036s9223372036s"'],
  ])('refuses %j in the words of Kubernetes', (text, message) => {
    expect(parseDuration(text)).toEqual({ ok: false, message });
  });
});

describe('durationSeconds', () => {
  test('keeps a tenth of a second and the longest duration', () => {
    expect([durationSeconds(100_000_000n), durationSeconds(MAX_INT64)]).toEqual([0.1, 9223372036.854776]);
  });
});

import { describe, expect, test } from 'vitest';
import {
  parseInteger,
  parseSingleValue,
  scanFields,
  scanStalls,
  type StallTotals,
} from '#agent/observe/source/parse-bytes.ts';

const encode = (text: string) => new TextEncoder().encode(text);

describe('parseSingleValue', () => {
  test.each<[sentence: string, content: string, expected: number]>([
    ['a number with a newline', '4096\n', 4096],
    ['a number without a newline', '4096', 4096],
    ['the word for no limit', 'max\n', Number.POSITIVE_INFINITY],
    ['the number for no limit on cgroup v1', '9223372036854771712\n', Number('9223372036854771712')],
    ['the largest unsigned number', '18446744073709551615\n', Number('18446744073709551615')],
    ['an empty file is unknown (B-37)', '', Number.NaN],
    ['a bare newline is unknown, not 0', '\n', Number.NaN],
    ['a negative number is unknown', '-1\n', Number.NaN],
    ['a word is unknown', 'abc\n', Number.NaN],
    ['two lines are unknown', '1\n2\n', Number.NaN],
    ['leading blanks are unknown', ' 12\n', Number.NaN],
    ['hexadecimal is unknown', '0x10\n', Number.NaN],
    ['21 digits are unknown', '123456789012345678901\n', Number.NaN],
  ])('%s', (_sentence, content, expected) => {
    expect(parseSingleValue(encode(content), content.length)).toBe(expected);
  });

  test('bytes behind the length are left alone', () => {
    expect(parseSingleValue(encode('12\n99\n'), 3)).toBe(12);
  });
});

describe('parseInteger', () => {
  test('ends at white space and refuses what runs into letters', () => {
    expect(parseInteger(encode('12 kB'), 0, 5)).toBe(12);
    expect(parseInteger(encode('12kB'), 0, 4)).toBeNaN();
  });
});

describe('scanFields', () => {
  const keys = ['MemTotal', 'MemAvailable'].map(encode);

  function scan(content: string): number[] {
    const values = new Float64Array(keys.length).fill(7);
    scanFields(encode(content), content.length, keys, values);
    return [...values];
  }

  test.each<[sentence: string, content: string, expected: number[]]>([
    ['keys with a colon and padding', 'MemTotal:    100 kB\nMemFree:  5 kB\nMemAvailable: 60 kB\n', [100, 60]],
    ['keys with a space, in any order', 'MemAvailable 60\nMemTotal 100\n', [100, 60]],
    ['a key that is missing is unknown', 'MemTotal: 100 kB\n', [100, Number.NaN]],
    ['a longer key is another key', 'MemTotalX: 1\nMemTotal: 2\n', [2, Number.NaN]],
    ['a value that is no number is unknown', 'MemTotal: abc\nMemAvailable: -5\n', [Number.NaN, Number.NaN]],
    ['a line cut off behind its key is unknown', 'MemTotal:', [Number.NaN, Number.NaN]],
    ['an empty file says nothing', '', [Number.NaN, Number.NaN]],
  ])('%s', (_sentence, content, expected) => {
    expect(scan(content)).toEqual(expected);
  });
});

describe('scanStalls', () => {
  function scan(content: string): StallTotals {
    const totals = { some: 1, full: 1 };
    scanStalls(encode(content), content.length, totals);
    return totals;
  }

  test('both lines', () => {
    const content =
      'some avg10=73.94 avg60=0.05 avg300=100.00 total=625085901\nfull avg10=0.00 avg60=1.50 avg300=0.00 total=12\n';
    expect(scan(content)).toEqual({ some: 625085901, full: 12 });
  });

  test('a kernel that writes no full line for cpu', () => {
    expect(scan('some avg10=1.00 avg60=2.00 avg300=3.00 total=4\n')).toEqual({ some: 4, full: Number.NaN });
  });

  test.each([
    '',
    'nonsense\n',
    'some\n',
    'some avg10 avg60 total\n',
    'some avg10=1.00 avg60=2\n',
    'some avg10=1.00 total=\n',
    'some avg10=1.00 total=4x\n',
    'some total=1.5\n',
  ])('%j is unknown', (content) => {
    expect(scan(content)).toEqual({ some: Number.NaN, full: Number.NaN });
  });
});

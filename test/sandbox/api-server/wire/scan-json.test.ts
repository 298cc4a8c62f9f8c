import { describe, expect, test } from 'vitest';
import { scanJson } from '#sandbox/api-server/wire/scan-json.ts';

describe('scanJson', () => {
  test.each<[string, string, readonly string[]]>([
    ['no key twice', '{"a":{"b":1},"c":{"b":2}}', []],
    ['a key twice at the top', '{"a":1,"a":2}', ['a']],
    ['a key twice in a list item', '{"l":[{"x":1},{"y":1,"y":2}]}', ['l[1].y']],
    ['a value that looks like a key', '{"a":"a","b":["a","a"]}', []],
    ['braces and quotes inside text', String.raw`{"a":"{\"a\":1}\\","b":"\\\""}`, []],
    ['the same key in nested objects', '{"a":{"a":{"a":1}}}', []],
  ])('finds %s', (_, text, duplicates) => {
    expect(scanJson(text)).toEqual({ isTooDeep: false, duplicates });
  });

  test.each<[string, string, boolean]>([
    ['200 levels are enough', '['.repeat(200) + ']'.repeat(200), false],
    ['201 are too deep', '['.repeat(201) + ']'.repeat(201), true],
    ['a million are noticed at once', '['.repeat(1_000_000), true],
    ['brackets inside text do not count', JSON.stringify({ a: '['.repeat(5_000) }), false],
  ])('%s', (_, text, isTooDeep) => {
    expect(scanJson(text).isTooDeep).toBe(isTooDeep);
  });
});

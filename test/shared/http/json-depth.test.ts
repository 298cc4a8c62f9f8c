import { describe, expect, test } from 'vitest';
import { isDeeperThan } from '#shared/http/json-depth.ts';

describe('isDeeperThan', () => {
  const cases: Record<string, { json: string; limit: number; deeper: boolean }> = {
    'a flat value': { json: '"x"', limit: 0, deeper: false },
    'exactly the limit': { json: '[[[]]]', limit: 3, deeper: false },
    'one more': { json: '[[[[]]]]', limit: 3, deeper: true },
    'objects and arrays together': { json: '{"a":[{"b":[1]}]}', limit: 3, deeper: true },
    'many side by side': { json: `[${'[],'.repeat(1_000)}1]`, limit: 2, deeper: false },
    'brackets in a string': { json: `["${'['.repeat(1_000)}"]`, limit: 1, deeper: false },
    'brackets after an escaped quote': { json: '["\\"[[[["]', limit: 1, deeper: false },
    'brackets after an escaped backslash': { json: '["\\\\",[[]]]', limit: 2, deeper: true },
    'a million arrays': { json: '['.repeat(1_000_000), limit: 200, deeper: true },
    'a string that never ends': { json: '["[[[[', limit: 1, deeper: false },
    'a string that ends in a backslash': { json: '["\\', limit: 1, deeper: false },
    nothing: { json: '', limit: 0, deeper: false },
  };
  test.each(Object.entries(cases))('%s', (_, { json, limit, deeper }) => {
    expect(isDeeperThan(Buffer.from(json), limit)).toBe(deeper);
  });
});

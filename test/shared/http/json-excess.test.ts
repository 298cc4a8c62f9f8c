import { describe, expect, test } from 'vitest';
import { jsonExcess } from '#shared/http/json-excess.ts';

describe('jsonExcess', () => {
  const cases: Record<string, { json: string; depth: number; excess: 'depth' | undefined }> = {
    'a flat value': { json: '"x"', depth: 0, excess: undefined },
    'exactly the limit': { json: '[[[]]]', depth: 3, excess: undefined },
    'one more': { json: '[[[[]]]]', depth: 3, excess: 'depth' },
    'objects and arrays together': { json: '{"a":[{"b":[1]}]}', depth: 3, excess: 'depth' },
    'many side by side': { json: `[${'[],'.repeat(1_000)}1]`, depth: 2, excess: undefined },
    'brackets in a string': { json: `["${'['.repeat(1_000)}"]`, depth: 1, excess: undefined },
    'brackets after an escaped quote': { json: '["\\"[[[["]', depth: 1, excess: undefined },
    'brackets after an escaped backslash': { json: '["\\\\",[[]]]', depth: 2, excess: 'depth' },
    'a million arrays': { json: '['.repeat(1_000_000), depth: 200, excess: 'depth' },
    'a string that never ends': { json: '["[[[[', depth: 1, excess: undefined },
    'a string that ends in a backslash': { json: '["\\', depth: 1, excess: undefined },
    nothing: { json: '', depth: 0, excess: undefined },
  };
  test.each(Object.entries(cases))('%s', (_, { json, depth, excess }) => {
    expect(jsonExcess(Buffer.from(json), { depth, values: 10_000 })).toBe(excess);
  });

  const counted: Record<string, { json: string; excess: 'values' | undefined }> = {
    'as many values as allowed': { json: '[1,2,{"a":3}]', excess: undefined },
    'one more': { json: '[1,2,{"a":3,"b":4}]', excess: 'values' },
    'commas in a string': { json: '["a,b,c,d,e"]', excess: undefined },
  };
  test.each(Object.entries(counted))('%s', (_, { json, excess }) => {
    expect(jsonExcess(Buffer.from(json), { depth: 10, values: 3 })).toBe(excess);
  });
});

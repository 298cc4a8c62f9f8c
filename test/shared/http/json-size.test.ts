import { describe, expect, test } from 'vitest';
import { jsonSize, type JsonLimits } from '#shared/http/json-size.ts';

function excess(json: string, limits: JsonLimits): keyof JsonLimits | undefined {
  const size = jsonSize(Buffer.from(json), limits);
  return size.kind === 'beyond' ? size.limit : undefined;
}

describe('jsonSize', () => {
  const cases: Record<string, { json: string; depth: number; limit: 'depth' | undefined }> = {
    'a flat value': { json: '"x"', depth: 0, limit: undefined },
    'exactly the limit': { json: '[[[]]]', depth: 3, limit: undefined },
    'one more': { json: '[[[[]]]]', depth: 3, limit: 'depth' },
    'objects and arrays together': { json: '{"a":[{"b":[1]}]}', depth: 3, limit: 'depth' },
    'many side by side': { json: `[${'[],'.repeat(1_000)}1]`, depth: 2, limit: undefined },
    'brackets in a string': { json: `["${'['.repeat(1_000)}"]`, depth: 1, limit: undefined },
    'brackets after an escaped quote': { json: '["\\"[[[["]', depth: 1, limit: undefined },
    'brackets after an escaped backslash': { json: '["\\\\",[[]]]', depth: 2, limit: 'depth' },
    'a million arrays': { json: '['.repeat(1_000_000), depth: 200, limit: 'depth' },
    'a string that never ends': { json: '["[[[[', depth: 1, limit: undefined },
    'a string that ends in a backslash': { json: '["\\', depth: 1, limit: undefined },
    nothing: { json: '', depth: 0, limit: undefined },
  };
  test.each(Object.entries(cases))('%s', (_, { json, depth, limit }) => {
    expect(excess(json, { depth, values: 10_000 })).toBe(limit);
  });

  const counted: Record<string, { json: string; limit: 'values' | undefined }> = {
    'as many values as allowed': { json: '[1,2,{"a":3}]', limit: undefined },
    'one more': { json: '[1,2,{"a":3,"b":4}]', limit: 'values' },
    'commas in a string': { json: '["a,b,c,d,e"]', limit: undefined },
  };
  test.each(Object.entries(counted))('%s', (_, { json, limit }) => {
    expect(excess(json, { depth: 10, values: 3 })).toBe(limit);
  });

  test('counts arrays, objects and commas outside of texts', () => {
    const json = Buffer.from('{"a":[1,2,{}],"b":"{,[","c":[[]]}');
    expect(jsonSize(json, { depth: 10, values: 100 })).toEqual({ kind: 'within', containers: 5, commas: 4 });
  });
});

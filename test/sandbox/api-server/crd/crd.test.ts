import { describe, expect, test } from 'vitest';
import { compileRules } from '#sandbox/api-server/crd/cel-rules.ts';
import { fillDefaults, compilePath } from '#sandbox/api-server/crd/custom-type.ts';
import { compileSchemaCheck } from '#sandbox/api-server/crd/json-schema-check.ts';
import { invalidText } from '#sandbox/api-server/errors/field-error.ts';

describe('fillDefaults', () => {
  test('fills from the outside in, and never over a value', () => {
    const leaf = { type: 'integer', default: 5 };
    const schema = {
      type: 'object',
      properties: {
        a: { type: 'object', default: {}, properties: { b: leaf } },
        c: leaf,
        l: { type: 'array', items: { type: 'object', properties: { d: leaf } } },
      },
    };
    const value = { c: 0, l: [{}, { d: 1 }] };
    fillDefaults(schema, value);
    expect(value).toEqual({ a: { b: 5 }, c: 0, l: [{ d: 5 }, { d: 1 }] });
  });

  test('null is a gap unless it may be there', () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string', default: 'x' }, b: { type: 'string', nullable: true, default: 'x' } },
    };
    const value = { a: null, b: null };
    fillDefaults(schema, value);
    expect(value).toEqual({ a: 'x', b: null });
  });
});

describe('compilePath', () => {
  const value = {
    spec: {
      list: [
        { name: 'x', size: 1 },
        { name: 'y', size: 2 },
      ],
    },
    metadata: { labels: { 'a.b/c': 'd' } },
  };
  test.each<[string, unknown]>([
    ['.spec.list[1].size', 2],
    ['.spec.list[?(@.name=="x")].size', 1],
    ['$.spec', undefined],
    ['.metadata.labels.a\\.b/c', 'd'],
    [".metadata.labels['a.b/c']", 'd'],
    ['.spec.none.at.all', undefined],
  ])('%s', (path, expected) => {
    expect(compilePath(path)?.(value)).toEqual(expected);
  });

  test('a path that it does not read is none', () => {
    expect(compilePath('.spec..x[*]')).toBeUndefined();
  });
});

describe('compileSchemaCheck', () => {
  const schema = {
    type: 'object',
    properties: {
      size: { 'x-kubernetes-int-or-string': true },
      name: { type: 'string', maxLength: 3, pattern: '^[a-z]+$' },
      list: {
        type: 'array',
        maxItems: 1,
        items: { type: 'object', required: ['key'], properties: { key: { type: 'string' } } },
      },
    },
  };
  test.each<[object, readonly string[]]>([
    [{ size: 1, name: 'abc', list: [{ key: 'k' }] }, []],
    [{ size: '10%' }, []],
    [
      { name: 'ABCD' },
      [
        'name: Invalid value: "ABCD": name in body should be at most 3 chars long',
        'name: Invalid value: "ABCD": name in body should match \'^[a-z]+$\'',
      ],
    ],
    [{ list: [{}] }, ['list[0].key: Required value']],
    [{ list: [{ key: 'a' }, { key: 'b' }] }, ['list: Too many: 2: must have at most 1 items']],
    [{ name: 7 }, ['name: Invalid value: "integer": name in body must be of type string: "integer"']],
  ])('%j', (value, texts) => {
    expect(compileSchemaCheck(schema)(value).map(invalidText)).toEqual(texts);
  });
});

describe('compileRules', () => {
  const check = compileRules({
    type: 'object',
    properties: {
      spec: {
        type: 'object',
        'x-kubernetes-validations': [
          {
            rule: 'self.low <= self.high',
            messageExpression: "'low ' + string(self.low) + ' is above ' + string(self.high)",
          },
          { rule: 'self.low == oldSelf.low', message: 'low may not change' },
          {
            rule: '!has(self.list) || self.list.all(x, x > 0)',
            message: 'all above zero',
            fieldPath: '.list',
            reason: 'FieldValueForbidden',
          },
        ],
      },
    },
  });
  test.each<[string, object, object | undefined, readonly string[]]>([
    ['holds', { low: 1, high: 2, list: [1] }, undefined, []],
    ['is broken, in its own words', { low: 3, high: 2 }, undefined, ['spec: Invalid value: low 3 is above 2']],
    ['of transition says nothing about a new object', { low: 1, high: 2 }, undefined, []],
    ['of transition is broken', { low: 1, high: 2 }, { low: 0, high: 2 }, ['spec: Invalid value: low may not change']],
    ['names its field and reason', { low: 1, high: 2, list: [0] }, undefined, ['spec.list: Forbidden: all above zero']],
  ])('a rule that %s', (_, spec, old, texts) => {
    expect(check?.({ spec }, old === undefined ? undefined : { spec: old }, '').map(invalidText)).toEqual(texts);
  });

  test('a schema without rules costs nothing', () => {
    expect(compileRules({ type: 'object', properties: { a: { type: 'string' } } })).toBeUndefined();
  });
});

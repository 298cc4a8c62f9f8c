import { describe, expect, test } from 'vitest';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';
import { compactDefinitions } from '#test/sandbox/api-server/schema/compact-definitions.ts';

describe('compactDefinitions', () => {
  test('follows references, drops words and empty defaults, keeps a field named like a keyword', () => {
    const schemas = {
      A: {
        type: 'object',
        description: 'words',
        properties: {
          b: { allOf: [{ $ref: '#/components/schemas/B' }], default: {} },
          description: { type: 'string' },
        },
      },
      B: { type: 'array', items: { $ref: '#/components/schemas/A' } },
      C: { type: 'string' },
    };
    expect(compactDefinitions(schemas, ['A'])).toEqual([
      '{"name":"A","type":"object","properties":{"b":{"$ref":"B"},"description":{"type":"string"}}}',
      '{"name":"B","type":"array","items":{"$ref":"A"}}',
    ]);
  });
});

describe('loadDefinitions', () => {
  const definitions = loadDefinitions();

  test('every reference leads somewhere', () => {
    const names = Array.from(
      JSON.stringify(Array.from(definitions.all.values())).matchAll(/"\$ref":"([^"]+)"/g),
      ([, name]) => name ?? '',
    );
    expect(names.filter((name) => !definitions.all.has(name))).toEqual([]);
    expect(names.length).toBeGreaterThan(500);
  });

  test('types that refer to themselves are whole', () => {
    const schema = definitions.schema('io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSONSchemaProps');
    const below = schema.kind === 'object' ? schema.fields.get('not') : undefined;
    expect(below).toBe(schema);
  });
});

import { expect, test } from 'vitest';
import { escapedName, escapeProperties } from '#sandbox/api-server/crd/cel-rules.ts';

test.each([
  ['replicas', 'replicas'],
  ['namespace', '__namespace__'],
  ['namespaces', 'namespaces'],
  ['a.b-c/d', 'a__dot__b__dash__c__slash__d'],
  ['__x', '__underscores__x'],
])('a rule writes %s as %s', (name, escaped) => {
  expect(escapedName(name)).toBe(escaped);
});

test('properties are escaped at every depth, keys of maps are not', () => {
  const subject = { properties: { namespace: {} } };
  const schema = {
    properties: {
      subjects: { items: subject },
      labels: { additionalProperties: {} },
      'by-name': { additionalProperties: subject },
    },
  };
  const value = {
    subjects: [{ namespace: 'a' }],
    labels: { namespace: 'b', 'x-y': 'c' },
    'by-name': { 'p-q': { namespace: 'd' } },
  };
  expect(escapeProperties(value, schema)).toEqual({
    subjects: [{ __namespace__: 'a' }],
    labels: { namespace: 'b', 'x-y': 'c' },
    by__dash__name: { 'p-q': { __namespace__: 'd' } },
  });
});

import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { expect, test } from 'vitest';
import { PSI_SIGNALS } from '#shared/domain/pressure/signal.ts';

const FILE = new URL('../../deploy/crds/plimsoll.dev_nodepressurepolicies.yaml', import.meta.url);

/** The value at a path in the only version of the definition. */
function schemaAt(...path: readonly string[]): unknown {
  const definition: unknown = parse(readFileSync(FILE, 'utf8'));
  return ['spec', 'versions', '0', 'schema', 'openAPIV3Schema', ...path].reduce<unknown>(
    (value, key) => (value as Readonly<Record<string, unknown>>)[key],
    definition,
  );
}

test('a pressure rule takes every signal of time lost to waiting', () => {
  const rule = schemaAt('properties', 'spec', 'properties', 'pressure', 'items', 'properties');
  expect(rule).toMatchObject({ signal: { enum: PSI_SIGNALS } });
});

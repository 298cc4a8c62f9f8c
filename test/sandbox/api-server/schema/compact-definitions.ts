/** An OpenAPI v3 schema, as `/openapi/v3/...` of a real API server holds it. */
export type Definition = Readonly<Record<string, unknown>>;

/**
 * The definitions that `roots` need, without descriptions and empty defaults, `$ref` shortened to the name:
 * one JSON text per definition, sorted by name. This is how `sandbox/api-server/schema/definitions.ndjson` is made.
 */
export function compactDefinitions(schemas: Readonly<Record<string, Definition>>, roots: readonly string[]): string[] {
  const wanted = new Map<string, Definition>();
  const queue = [...roots];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const schema = schemas[name];
    if (wanted.has(name) || schema === undefined) continue;
    const compact = compactSchema(schema);
    wanted.set(name, compact);
    queue.push(...references(compact));
  }
  return Array.from(wanted.keys())
    .sort()
    .map((name) => JSON.stringify({ name, ...wanted.get(name) }));
}

function compactSchema(schema: Definition): Definition {
  return Object.fromEntries(Object.entries(schema).flatMap(([key, value]) => compactEntry(key, value)));
}

function compactEntry(key: string, value: unknown): [string, unknown][] {
  if (key === 'description' || (key === 'default' && isZero(value))) return [];
  if (key === 'allOf') return [['$ref', shortReference((value as readonly Definition[])[0]?.['$ref'])]];
  if (key === '$ref') return [['$ref', shortReference(value)]];
  if (key === 'properties') return [[key, compactProperties(value as Record<string, Definition>)]];
  if (key === 'items' || key === 'additionalProperties') return [[key, compactSchema(value as Definition)]];
  return [[key, value]];
}

function compactProperties(properties: Readonly<Record<string, Definition>>): Definition {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, compactSchema(schema)]));
}

function isZero(value: unknown): boolean {
  return value === '' || value === 0 || JSON.stringify(value) === '{}';
}

function shortReference(reference: unknown): string {
  return String(reference).replace(/^#\/components\/schemas\//, '');
}

function references(schema: Definition): string[] {
  const own = typeof schema['$ref'] === 'string' ? [schema['$ref']] : [];
  const properties = Object.values((schema['properties'] ?? {}) as Record<string, Definition>);
  const parts = [schema['items'], schema['additionalProperties']].filter((part) => part !== undefined);
  return [...own, ...[...properties, ...(parts as Definition[])].flatMap(references)];
}

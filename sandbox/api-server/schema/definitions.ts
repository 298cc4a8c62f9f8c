import { readFileSync } from 'node:fs';
import { compileSchema, type JsonSchema } from './compile-schema.ts';
import { ANY, type Schema } from './schema.ts';

/** Field names and types of the built-in kinds, one OpenAPI definition per line; see README.md in its folder. */
const FILE = new URL('./definitions.ndjson', import.meta.url);

/** The definitions of the built-in kinds, read and compiled on first use. */
export interface Definitions {
  /** All of them by name, as OpenAPI v3 schemas with short `$ref`s. */
  readonly all: ReadonlyMap<string, JsonSchema>;
  readonly schema: (name: string) => Schema;
}

/** Reads the file; takes about 3 ms. */
export function loadDefinitions(): Definitions {
  const all = new Map(readFileSync(FILE, 'utf8').split('\n').filter(Boolean).map(parseLine));
  const compiled = new Map<string, Schema>();
  const schema = (name: string): Schema => compiled.get(name) ?? compile(name);

  function compile(name: string): Schema {
    const definition = all.get(name);
    if (definition === undefined) return ANY;
    const register = (early: Schema): void => void compiled.set(name, early);
    const result = compileSchema(definition, { name: goName(name), resolve: schema, special: name, register });
    compiled.set(name, result);
    return result;
  }
  return { all, schema };
}

function parseLine(line: string): [string, JsonSchema] {
  const { name, ...definition } = JSON.parse(line) as { name: string } & JsonSchema;
  return [name, definition];
}

/** `PodSpec` of `io.k8s.api.core.v1.PodSpec`. */
function goName(name: string): string {
  return name.slice(name.lastIndexOf('.') + 1);
}

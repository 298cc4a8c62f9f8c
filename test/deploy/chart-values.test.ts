import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';

const CHART = 'deploy/charts/plimsoll/';
const text = readFileSync(`${CHART}values.yaml`, 'utf8');
const values = parse(text) as object;
const schema = JSON.parse(readFileSync(`${CHART}values.schema.json`, 'utf8')) as Schema;
const templates = readdirSync(`${CHART}templates`)
  .map((name) => readFileSync(`${CHART}templates/${name}`, 'utf8'))
  .join('\n');

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: unknown;
}

/** The settings: paths down to where the schema leaves the shape to Kubernetes. */
function settings(of: Schema, path = ''): readonly string[] {
  return Object.entries(of.properties ?? {}).flatMap(([key, child]) =>
    child.properties === undefined ? [`${path}${key}`] : settings(child, `${path}${key}.`),
  );
}

/** `global` belongs to parent charts. */
const known = settings(schema).filter((path) => path !== 'global');

describe('values of the chart', () => {
  test('are all in the schema, and nothing else is', () => {
    expect(known.length).toBeGreaterThan(30);
    expect(known.filter((path) => at(values, path) === undefined)).toEqual([]);
    expect(Object.keys(values).toSorted()).toEqual([...new Set(known.map((path) => path.split('.')[0]))].toSorted());
  });

  test('are all used, and all that are used are there', () => {
    const used = new Set(Array.from(templates.matchAll(/\.Values\.([\w.]+)/g), ([, path = '']) => path));
    expect([...used].filter((path) => !known.includes(path))).toEqual([]);
    expect(known.filter((path) => !used.has(path))).toEqual([]);
  });

  test('are explained one by one', () => {
    const lines = text.split('\n');
    const bare = known.filter((path) => {
      const key = path.split('.').at(-1) ?? '';
      const indent = '  '.repeat(path.split('.').length - 1);
      return !lines.some(
        (line, index) => line.startsWith(`${indent}${key}:`) && (lines[index - 1] ?? '').includes('# -- '),
      );
    });
    expect(bare).toEqual([]);
  });

  test('have the version of the package, as deploy/base has', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    const chart = parse(readFileSync(`${CHART}Chart.yaml`, 'utf8')) as object;
    expect([at(chart, 'version'), at(chart, 'appVersion')]).toEqual([version, version]);
    const base = parse(readFileSync('deploy/base/kustomization.yaml', 'utf8')) as object;
    expect(at(base, 'images.0.newTag')).toBe(version);
  });
});

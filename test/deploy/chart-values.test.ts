import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { chartArtifacts } from '#tools/manifests/chart-artifacts.ts';
import { chartSettings } from './chart-settings.ts';

const CHART = 'deploy/charts/plimsoll/';
const text = readFileSync(`${CHART}values.yaml`, 'utf8');
const values = parse(text) as object;
const templates = chartArtifacts()
  .filter(({ path }) => path.startsWith('templates/'))
  .map((each) => each.text)
  .join('\n');

const known = chartSettings();

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

  test('are all listed in the README of the chart', () => {
    const readme = readFileSync(`${CHART}README.md`, 'utf8');
    expect(known.filter((path) => !readme.includes(`| \`${path}\` `))).toEqual([]);
  });

  test('have the version of the package, as deploy/base has', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly version: string };
    const chart = parse(readFileSync(`${CHART}Chart.yaml`, 'utf8')) as object;
    expect([at(chart, 'version'), at(chart, 'appVersion')]).toEqual([version, version]);
    const base = parse(readFileSync('deploy/base/kustomization.yaml', 'utf8')) as object;
    expect(at(base, 'images.0.newTag')).toBe(version);
  });
});

import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';
import type { Artifact } from '#tools/generate/artifact.ts';
import { writeManifests } from '#tools/manifests/manifest-artifacts.ts';

const BASE = ['deploy/base/*.yaml', 'deploy/base/*/*.yaml', 'deploy/crds/*.yaml'];
let folder = '';
let artifacts: readonly Artifact[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plimsoll-manifests-'));
  artifacts = writeManifests(folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

function objectsOf(text: string, version: '1.1' | '1.2' = '1.2'): readonly object[] {
  return parseAllDocuments(text, { version }).map((each) => each.toJS() as object);
}

function nameOf(object: object): string {
  return `${String(at(object, 'kind'))} ${String(at(object, 'metadata.namespace'))}/${String(at(object, 'metadata.name'))}`;
}

test('install.yaml has every object of deploy/base, and no other', () => {
  const files = globSync(BASE).filter((path) => !path.endsWith('kustomization.yaml'));
  const wanted = files.flatMap((path) => objectsOf(readFileSync(path, 'utf8'))).map(nameOf);
  const made = objectsOf(readFileSync(join(folder, 'install.yaml'), 'utf8')).map(nameOf);
  expect(made.toSorted()).toEqual(wanted.toSorted());
  expect(made.length).toBeGreaterThan(60);
});

test('install.yaml creates namespaces first, and is the same in both versions of YAML', () => {
  const text = readFileSync(join(folder, 'install.yaml'), 'utf8');
  const built = buildFolder('deploy/base');
  expect([objectsOf(text, '1.1'), objectsOf(text, '1.2')]).toEqual([built, built]);
  expect(built.slice(0, 2).map(({ kind }) => kind)).toEqual(['Namespace', 'Namespace']);
  expect(built.at(-1)?.kind).toBe('ValidatingWebhookConfiguration');
});

test('what an earlier chart had and this one has not does not stay', () => {
  const left = join(folder, 'chart/templates/removed.yaml');
  writeFileSync(left, '');
  writeManifests(folder);
  expect([existsSync(left), existsSync(join(folder, 'chart/templates/webhook.yaml'))]).toEqual([false, true]);
});

test('the chart has what is written by hand, a template for each component, and the alerts and boards', () => {
  const paths = artifacts.map(({ path }) => path);
  const written = globSync('deploy/charts/plimsoll/{*,*/*,*/*/*}.*').map((path) =>
    path.slice('deploy/charts/plimsoll/'.length),
  );
  const boards = globSync('deploy/dashboards/*.json').map((path) => path.replace('deploy/', 'files/'));
  const made = ['agent', 'webhook', 'controller', 'scheduler', 'queues'].map((name) => `templates/${name}.yaml`);
  const wanted = [...written, ...boards, ...made, 'files/alerts.yaml'].map((path) => `chart/${path}`);
  expect(wanted.filter((path) => !paths.includes(path))).toEqual([]);
});

test('what is in the image is listed, under licenses that are accepted', () => {
  const bill = JSON.parse(readFileSync(join(folder, 'sbom.cdx.json'), 'utf8')) as {
    readonly components: readonly object[];
  };
  const names = bill.components.map((each) => String(at(each, 'name')));
  expect(names).toEqual(expect.arrayContaining(['express', 'node', 'zod']));
  const licenses = readFileSync(join(folder, 'licenses.md'), 'utf8');
  expect(names.filter((name) => !licenses.includes(`- ${name} `))).toEqual([]);
});

import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { fieldOf } from '#shared/kube/decode/wire-object.ts';
import { apiVersionOf, type Resource } from '#shared/kube/resource.ts';
import { COMPONENT_RESOURCES, INSTALLED_RESOURCES } from '#cli/cluster/installed-resources.ts';
import { typeOf } from '#cli/manifests/parse-manifests.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';

const DEPLOY = fileURLToPath(new URL('../../../deploy/', import.meta.url));
/** What kustomize reads, rather than the API server. */
const KUSTOMIZE = /^kustomize\.config\.k8s\.io/;

function typesIn(file: string): readonly string[] {
  const objects: readonly unknown[] = parseAllDocuments(readFileSync(file, 'utf8')).map(
    (each) => each.toJS() as unknown,
  );
  return objects
    .filter((object) => object !== null)
    .map((object) =>
      typeOf({ apiVersion: String(fieldOf(object, 'apiVersion')), kind: String(fieldOf(object, 'kind')) }),
    );
}

function names(resources: readonly Resource[]): readonly string[] {
  return resources.map((each) => typeOf({ apiVersion: apiVersionOf(each), kind: each.kind })).toSorted();
}

test('every kind of install.yaml is known, and no other', () => {
  expect(names(INSTALLED_RESOURCES)).toEqual([...new Set(buildFolder('deploy/base').map(typeOf))].toSorted());
});

test('every kind of components and overlays is known', () => {
  const files = ['components', 'overlays'].flatMap((folder) =>
    readdirSync(`${DEPLOY}${folder}`, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name.endsWith('.yaml'))
      .map((entry) => `${entry.parentPath}/${entry.name}`),
  );
  const types = new Set(files.flatMap(typesIn).filter((type) => !KUSTOMIZE.test(type)));
  const known = names([...INSTALLED_RESOURCES, ...COMPONENT_RESOURCES]);
  expect([...types].filter((type) => !known.includes(type))).toEqual([]);
  expect(types.size).toBeGreaterThan(10);
});

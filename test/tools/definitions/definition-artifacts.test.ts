import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { definitionArtifacts } from '#tools/definitions/definition-artifacts.ts';

test('no definition of a kind is written by hand', () => {
  const files = readdirSync('deploy/crds').filter((name) => name.startsWith('plimsoll.dev_'));
  const made = definitionArtifacts().map(({ path }) => path.replace('deploy/crds/', ''));
  expect(made.sort()).toEqual(files.sort());
});

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { versionArtifacts, withVersion } from '#tools/generate/version-artifacts.ts';

describe('withVersion', () => {
  test.each([
    ['the version of a chart', 'version: 0.1.0\nappVersion: 0.1.0\n', 'version: 2.0.0-rc.1\nappVersion: 2.0.0-rc.1\n'],
    [
      'the tag of an image in a kustomization',
      '  - name: plimsoll\n    newTag: 0.1.0\n',
      '  - name: plimsoll\n    newTag: 2.0.0-rc.1\n',
    ],
    ['the image in a guide', 'docker build -t plimsoll:0.1.0 .', 'docker build -t plimsoll:2.0.0-rc.1 .'],
    ['a version of something else', 'apiVersion: v2\nkubeVersion: 1.30.0\n', 'apiVersion: v2\nkubeVersion: 1.30.0\n'],
  ])('of %s', (_, text, wanted) => {
    expect(withVersion(text, '2.0.0-rc.1')).toBe(wanted);
  });
});

test('every file that names the version has that of package.json', () => {
  const artifacts = versionArtifacts();
  expect(artifacts.length).toBeGreaterThan(5);
  expect(artifacts.filter(({ path, text }) => readFileSync(path, 'utf8') !== text)).toEqual([]);
  expect(artifacts.filter(({ text }) => withVersion(text, '9.9.9') === text).map(({ path }) => path)).toEqual(
    expect.not.arrayContaining(['deploy/base/kustomization.yaml', 'deploy/charts/plimsoll/Chart.yaml']),
  );
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { at } from '#test/contract/harness.ts';

const DEPLOY = 'deploy/';
const GENERATED = /^(charts|crds)\/|install\.yaml$/;
const files = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.yaml') && !GENERATED.test(file) && !file.startsWith('examples/'),
);

/** The specs of pods in manifests and in the patches of overlays, whatever the kind. */
const pods = files.flatMap((file) =>
  parseAllDocuments(readFileSync(DEPLOY + file, 'utf8'))
    .map((document) => document.toJS() as unknown)
    .map((object) => ({ file, name: String(at(object, 'metadata.name')), spec: at(object, 'spec.template.spec') }))
    .filter(({ spec }) => spec !== undefined),
);

describe('service links', () => {
  test('no pod that we ship takes variables from the Services of its namespace', () => {
    expect(pods.length).toBeGreaterThan(4);
    expect(pods.filter(({ spec }) => at(spec, 'enableServiceLinks') !== false)).toEqual([]);
  });

  test('no overlay or value turns them on again', () => {
    const turnedOn = readdirSync(DEPLOY, { recursive: true, encoding: 'utf8' })
      .filter((file) => /\.(yaml|tpl|json)$/.test(file) && !file.startsWith('crds/'))
      .filter((file) => /enableServiceLinks"?:? (?!false$)/m.test(readFileSync(DEPLOY + file, 'utf8')));
    expect(turnedOn).toEqual([]);
  });
});

describe('the containers that we ship', () => {
  test('have time to start on a node without spare processor time', () => {
    const containers = pods.flatMap(({ spec }) => at(spec, 'containers') as readonly object[]);
    const ours = containers.filter(
      (each) => at(each, 'livenessProbe.httpGet.path') === '/livez' && at(each, 'image') === 'plimsoll',
    );
    expect(ours.length).toBeGreaterThan(4);
    for (const each of ours) {
      const { periodSeconds = 10, failureThreshold = 3 } = (at(each, 'startupProbe') ?? {}) as Record<string, number>;
      expect([at(each, 'name'), periodSeconds * failureThreshold]).toEqual([at(each, 'name'), 180]);
    }
  });
});

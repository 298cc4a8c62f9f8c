import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { at } from '#test/contract/harness.ts';
import { buildFolder } from '#tools/manifests/kustomize/build-folder.ts';

const HEAD = 'apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\n';
const DEPLOYMENT = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web, namespace: shop, labels: { app: web } }
spec:
  template:
    spec:
      containers:
        - { name: main, image: plimsoll, args: [a], volumeMounts: [{ name: tmp, mountPath: /tmp }] }
        - { name: other, image: registry.test/plimsoll:1 }
      volumes: [{ name: tmp, emptyDir: {} }]
`;
const BASE = {
  'base/kustomization.yaml': `${HEAD}resources: [web.yaml, space.yaml]\nlabels: [{ pairs: { part-of: shop } }]\nimages: [{ name: plimsoll, newTag: 1.2.3 }]`,
  'base/web.yaml': DEPLOYMENT,
  'base/space.yaml': 'apiVersion: v1\nkind: Namespace\nmetadata: { name: shop }',
};

let root = '';
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'plimsoll-kustomize-'));
});
afterEach(() => rmSync(root, { recursive: true }));

function build(folder: string, files: Readonly<Record<string, string>>): ReturnType<typeof buildFolder> {
  for (const [path, text] of Object.entries({ ...BASE, ...files })) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return buildFolder(join(root, folder));
}

function overlay(fields: string): Readonly<Record<string, string>> {
  return { 'over/kustomization.yaml': `${HEAD}resources: [../base]\n${fields}` };
}

function patched(target: string, patch: string): ReturnType<typeof buildFolder> {
  return build('over', overlay(`patches:\n  - target: ${target}\n    patch: |-\n${patch.replaceAll(/^/gm, '      ')}`));
}

const WEB = '{ kind: Deployment, name: web }';

describe('buildFolder', () => {
  test('puts namespaces first and adds labels and the tag of the image of that name', () => {
    const [space, web] = build('base', {});
    expect(space).toMatchObject({ kind: 'Namespace', metadata: { labels: { 'part-of': 'shop' } } });
    expect(at(web, 'metadata.labels')).toEqual({ app: 'web', 'part-of': 'shop' });
    const containers = at(web, 'spec.template.spec.containers') as readonly object[];
    expect(containers.map((each) => at(each, 'image'))).toEqual(['plimsoll:1.2.3', 'registry.test/plimsoll:1']);
  });

  test('merges a patch by the keys of each list', () => {
    const [, web] = patched(
      WEB,
      `spec:
  template:
    spec:
      containers: [{ name: main, args: [b], volumeMounts: [{ name: key, mountPath: /key }] }]
      volumes: [{ name: key, secret: { secretName: key, defaultMode: 0440 } }]`,
    );
    const spec = at(web, 'spec.template.spec');
    expect(at(spec, 'containers.0')).toMatchObject({ args: ['b'], image: 'plimsoll:1.2.3' });
    expect(at(spec, 'containers.1.name')).toBe('other');
    expect(at(spec, 'containers.0.volumeMounts')).toHaveLength(2);
    expect(at(spec, 'volumes')).toContainEqual({ name: 'key', secret: { secretName: 'key', defaultMode: 0o440 } });
  });

  test.each([
    ['an item of a list', 'spec: { template: { spec: { containers: [{ name: other, $patch: delete }] } } }', ['main']],
    ['an item by its position', '- { op: remove, path: /spec/template/spec/containers/0 }', ['other']],
  ])('removes %s', (_, patch, left) => {
    const containers = at(patched(WEB, patch)[1], 'spec.template.spec.containers') as readonly object[];
    expect(containers.map((each) => at(each, 'name'))).toEqual(left);
  });

  test('removes the objects that the whole pattern matches', () => {
    const left = patched('{ kind: Deployment|Namespace, name: sho. }', '$patch: delete');
    expect(left.map(({ kind }) => kind)).toEqual(['Deployment']);
  });

  test('lets a component change what is there before it', () => {
    const component = `${HEAD.replace('beta', 'alpha').replace('Kustomization', 'Component')}labels: [{ pairs: { extra: x } }]`;
    const objects = build('over', { ...overlay('components: [../part]'), 'part/kustomization.yaml': component });
    expect(objects.map((each) => at(each, 'metadata.labels.extra'))).toEqual(['x', 'x']);
  });

  test.each([
    ['a field that it does not know', 'namePrefix: a-', 'namePrefix can only be built by kustomize'],
    ['labels for selectors', 'labels: [{ pairs: {}, includeSelectors: true }]', 'labels.includeSelectors can only'],
    ['a patch that matches nothing', 'patches: [{ target: { kind: Job, name: x }, patch: "[]" }]', 'no object matches'],
    ['a selector of labels', 'patches: [{ target: { labelSelector: a=b }, patch: "[]" }]', 'target.labelSelector can'],
    ['an object that is there already', 'components: [../base]', 'Deployment shop/web is there twice'],
  ])('refuses %s', (_, fields, sentence) => {
    expect(() => build('over', overlay(fields))).toThrow(sentence);
  });

  test('refuses a strategic merge patch of a kind whose lists it does not know', () => {
    const custom = 'apiVersion: test.dev/v1\nkind: Thing\nmetadata: { name: x }';
    const patch = 'patches: [{ target: { kind: Thing, name: x }, patch: "spec: {}" }]';
    const files = { 'over/x.yaml': custom, 'over/kustomization.yaml': `${HEAD}resources: [x.yaml]\n${patch}` };
    expect(() => build('over', files)).toThrow('cannot patch a Thing');
  });
});

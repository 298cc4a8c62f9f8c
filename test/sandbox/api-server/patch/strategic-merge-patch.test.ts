import { describe, expect, test } from 'vitest';
import { applyStrategicMergePatch } from '#sandbox/api-server/patch/patch.ts';
import { loadDefinitions } from '#sandbox/api-server/schema/definitions.ts';

const schema = loadDefinitions().schema('io.k8s.api.core.v1.Pod');
const containers = [
  { name: 'a', image: '1', env: [{ name: 'X', value: '1' }] },
  { name: 'b', image: '1' },
];

function patched(spec: object, target: object = { containers }): unknown {
  const result = applyStrategicMergePatch(schema, { spec: target }, { spec }) as { spec: unknown };
  return result.spec;
}

describe('applyStrategicMergePatch', () => {
  test('merges items by their key and leaves the others alone', () => {
    expect(patched({ containers: [{ name: 'b', image: '2' }] })).toEqual({
      containers: [containers[0], { name: 'b', image: '2' }],
    });
  });

  test('adds an item with a new key', () => {
    expect(patched({ containers: [{ name: 'c', image: '3' }] })).toEqual({
      containers: [...containers, { name: 'c', image: '3' }],
    });
  });

  test('deletes an item by directive', () => {
    expect(patched({ containers: [{ name: 'a', $patch: 'delete' }] })).toEqual({ containers: [containers[1]] });
  });

  test('replaces a list by directive', () => {
    expect(patched({ containers: [{ name: 'z' }, { $patch: 'replace' }] })).toEqual({ containers: [{ name: 'z' }] });
  });

  test('replaces and empties an object by directive', () => {
    const target = { securityContext: { runAsUser: 1, fsGroup: 2 } };
    expect(patched({ securityContext: { $patch: 'replace', runAsUser: 3 } }, target)).toEqual({
      securityContext: { runAsUser: 3 },
    });
    expect(patched({ securityContext: { $patch: 'delete' } }, target)).toEqual({ securityContext: {} });
  });

  test('orders items as asked', () => {
    const order = { '$setElementOrder/containers': [{ name: 'b' }, { name: 'a' }] };
    expect(patched(order)).toEqual({ containers: [containers[1], containers[0]] });
  });

  test('removes by null', () => {
    expect(patched({ nodeName: null }, { nodeName: 'n', hostNetwork: true })).toEqual({ hostNetwork: true });
  });

  test('replaces lists without a merge key', () => {
    const target = { tolerations: [{ key: 'a' }] };
    expect(patched({ tolerations: [{ key: 'b' }] }, target)).toEqual({ tolerations: [{ key: 'b' }] });
  });

  test('adds to and deletes from lists of plain values', () => {
    const meta = (finalizers: object): unknown =>
      applyStrategicMergePatch(schema, { metadata: { finalizers: ['a', 'b'] } }, { metadata: finalizers });
    expect(meta({ finalizers: ['c'] })).toEqual({ metadata: { finalizers: ['a', 'b', 'c'] } });
    expect(meta({ '$deleteFromPrimitiveList/finalizers': ['a'] })).toEqual({ metadata: { finalizers: ['b'] } });
  });

  test('keeps only the fields of a union that are named', () => {
    const target = { volumes: [{ name: 'v', emptyDir: {} }] };
    const patch = { volumes: [{ name: 'v', $retainKeys: ['name', 'configMap'], configMap: { name: 'c' } }] };
    expect(patched(patch, target)).toEqual({ volumes: [{ name: 'v', configMap: { name: 'c' } }] });
  });

  test('refuses an item without the key', () => {
    expect(() => patched({ containers: [{ image: 'x' }] })).toThrow('does not contain declared merge key: name');
  });

  test('changes neither argument', () => {
    const target = Object.freeze({
      containers: Object.freeze(containers.map((container) => Object.freeze(container))),
    });
    const patch = Object.freeze({ containers: Object.freeze([Object.freeze({ name: 'a', image: '9' })]) });
    expect(() => patched(patch, target)).not.toThrow();
  });
});

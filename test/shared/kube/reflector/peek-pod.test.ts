import { describe, expect, test } from 'vitest';
import { peekPod } from '#shared/kube/decode/decode-seen-pod.ts';

const METADATA = { name: 'web-7', generateName: 'web-', namespace: 'team-a', uid: 'u-1', resourceVersion: '17' };
const HEAD = { namespace: 'team-a', uid: 'u-1', resourceVersion: '17' };

function skim(object: unknown) {
  return peekPod(Buffer.from(JSON.stringify(object)));
}

describe('peekPod', () => {
  test('reads an item of a list, with and without a generated name', () => {
    const plain = { ...METADATA, generateName: undefined };
    expect(skim({ metadata: { ...METADATA, labels: {} }, spec: {} })).toEqual(HEAD);
    expect(skim({ metadata: plain, spec: {} })).toEqual(HEAD);
  });

  test.each(['ADDED', 'MODIFIED', 'DELETED'])('reads a line of a watch: %s', (type) => {
    expect(skim({ type, object: { kind: 'Pod', apiVersion: 'v1', metadata: METADATA } })).toEqual(HEAD);
  });

  test('looks at the first bytes alone', () => {
    const json = Buffer.from(JSON.stringify({ metadata: METADATA, spec: 'x'.repeat(1_000_000) }));
    expect(peekPod(json.subarray(0, 300))).toEqual(HEAD);
  });

  test.each<[string, unknown]>([
    ['a bookmark', { type: 'BOOKMARK', object: { kind: 'Pod', apiVersion: 'v1', metadata: METADATA } }],
    ['an error', { type: 'ERROR', object: { code: 410 } }],
    ['fields in another order', { metadata: { namespace: 'team-a', name: 'web-7', uid: 'u', resourceVersion: '1' } }],
    ['another kind', { kind: 'Service', apiVersion: 'v1', metadata: METADATA }],
    ['a name with an escape in it', { metadata: { ...METADATA, name: 'a"b' } }],
    ['a pod without a namespace', { metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }],
    ['metadata further inside', { spec: { metadata: METADATA } }],
  ])('leaves %s to be parsed', (_, object) => {
    expect(skim(object)).toBeUndefined();
  });
});

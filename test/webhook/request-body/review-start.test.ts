import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { reviewStart } from '#webhook/request-body/review-scan.ts';
import { createPodReview, pod } from '#test/webhook/support/reviews.ts';

const SEED = 20_261_122;
const KIND = { group: '', version: 'v1', kind: 'Pod' };
const RESOURCE = { group: '', version: 'v1', resource: 'pods' };

/** A review in the order in which a kube-apiserver 1.36.3 writes it. */
function written(request: object = {}): string {
  const whole = {
    uid: 'd09c5765',
    kind: KIND,
    resource: RESOURCE,
    requestKind: KIND,
    requestResource: RESOURCE,
    name: 'web',
    namespace: 'team-a',
    operation: 'CREATE',
    userInfo: { username: 'alice', groups: ['system:authenticated'] },
    object: pod(),
    ...request,
  };
  return JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request: whole });
}

describe('reviewStart', () => {
  const EVERYTHING = { uid: 'd09c5765', namespace: 'team-a', username: 'alice' };
  const cases: Record<string, { text: string; start: ReturnType<typeof reviewStart> }> = {
    'as the API server writes it': { text: written(), start: EVERYTHING },
    'of a subresource': {
      text: written()
        .replace('"requestKind"', '"subResource":"eviction","requestKind"')
        .replace('"name":"web"', '"requestSubResource":"eviction","name":"web"'),
      start: EVERYTHING,
    },
    'without a name': { text: written({ name: undefined }), start: EVERYTHING },
    'without a namespace': { text: written({ namespace: undefined }), start: { ...EVERYTHING, namespace: '' } },
    'with quotes in the name': { text: written({ name: 'a","namespace":"other' }), start: EVERYTHING },
    'with quotes in the user name': {
      text: written({ userInfo: { username: 'a"b' } }),
      start: { ...EVERYTHING, username: undefined },
    },
    'without a user name': { text: written({ userInfo: {} }), start: { ...EVERYTHING, username: undefined } },
    'with a name that is longer than what is looked at': {
      text: written({ name: 'n'.repeat(10_000) }),
      start: { uid: 'd09c5765', namespace: undefined, username: undefined },
    },
    'cut off after the uid': {
      text: written().slice(0, 90),
      start: { uid: 'd09c5765', namespace: undefined, username: undefined },
    },
    'in another order': {
      text: createPodReview(pod(), { uid: 'd09c5765' }),
      start: { uid: 'd09c5765', namespace: undefined, username: undefined },
    },
    'with a uid that is no text': { text: written({ uid: 5 }), start: undefined },
    'with a uid that is too long': { text: written({ uid: 'u'.repeat(129) }), start: undefined },
    'with an escaped uid': { text: written({ uid: 'a"b' }), start: undefined },
    'not at the beginning': { text: ` ${written()}`, start: undefined },
    'no review': { text: '{"kind":"Pod"}', start: undefined },
    nothing: { text: '', start: undefined },
  };
  test.each(Object.entries(cases))('%s', (_, { text, start }) => {
    expect(reviewStart(Buffer.from(text))).toEqual(start);
  });

  test('no name, whatever it holds, changes the namespace or the user', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (name) => {
        expect(reviewStart(Buffer.from(written({ name })))).toEqual(EVERYTHING);
      }),
      { seed: SEED, numRuns: 1_000 },
    );
  });

  test('no bytes take long to be looked at', () => {
    const backslashes = written({ name: '\\'.repeat(2_000) });
    for (const text of [
      backslashes,
      written({ name: '"'.repeat(2_000) }),
      `${written().slice(0, 60)}${'{'.repeat(5_000)}`,
    ]) {
      const before = process.threadCpuUsage();
      for (let count = 0; count < 100; count += 1) reviewStart(Buffer.from(text));
      expect(process.threadCpuUsage(before).user / 1_000).toBeLessThan(200);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { apiVersionOf, LEASES, NODES, PDBS, PODS, resourceLabel, resourcePath } from '#shared/kube/resource.ts';

describe('resourcePath', () => {
  test.each([
    ['a core collection of all namespaces', resourcePath(PODS), '/api/v1/pods'],
    ['a collection', resourcePath(PODS, { namespace: 'a' }), '/api/v1/namespaces/a/pods'],
    ['an object', resourcePath(PODS, { namespace: 'a', name: 'b' }), '/api/v1/namespaces/a/pods/b'],
    [
      'a subresource',
      resourcePath(PODS, { namespace: 'a', name: 'b', subresource: 'eviction' }),
      '/api/v1/namespaces/a/pods/b/eviction',
    ],
    [
      'a grouped object',
      resourcePath(LEASES, { namespace: 'a', name: 'b' }),
      '/apis/coordination.k8s.io/v1/namespaces/a/leases/b',
    ],
    [
      'a cluster-scoped object, whatever namespace is named',
      resourcePath(NODES, { namespace: 'a', name: 'n' }),
      '/api/v1/nodes/n',
    ],
    [
      'names that would leave the path',
      resourcePath(PODS, { namespace: '../x', name: 'a/b?c' }),
      '/api/v1/namespaces/..%2Fx/pods/a%2Fb%3Fc',
    ],
    [
      'names that would lead upwards',
      resourcePath(PODS, { namespace: '..', name: '.' }),
      '/api/v1/namespaces/%25../pods/%25.',
    ],
    ['a name that is empty', resourcePath(PODS, { namespace: 'a', name: '' }), '/api/v1/namespaces/a/pods/%25'],
    ['half a character', resourcePath(NODES, { name: '\ud800' }), '/api/v1/nodes/%EF%BF%BD'],
  ])('%s', (_, path, expected) => {
    expect(path).toBe(expected);
  });
});

test('a resource knows its apiVersion and its label', () => {
  expect([apiVersionOf(PODS), apiVersionOf(PDBS)]).toEqual(['v1', 'policy/v1']);
  expect([resourceLabel(PODS), resourceLabel(PDBS)]).toEqual(['pods', 'poddisruptionbudgets.policy']);
});

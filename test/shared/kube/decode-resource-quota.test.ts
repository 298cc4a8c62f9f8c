import { describe, expect, test } from 'vitest';
import { decodeResourceQuota } from '#shared/kube/decode-resource-quota.ts';
import { quantityOf } from '#test/build/quantities.ts';
import { required } from '#test/conformance/required.ts';

describe('decodeResourceQuota', () => {
  test('scopes come before the terms of the selector, and status is what counts', () => {
    const term = { scopeName: 'PriorityClass', operator: 'In', values: ['high'] };
    const spec = { scopes: ['BestEffort'], scopeSelector: { matchExpressions: [term] }, hard: { pods: '1' } };
    const decoded = required(
      decodeResourceQuota({ metadata: { name: 'q', namespace: 'team-a' }, spec, status: { hard: { pods: '2' } } }),
    );
    expect(decoded).toEqual({
      namespace: 'team-a',
      name: 'q',
      scopes: [{ scopeName: 'BestEffort', operator: 'Exists', values: [] }, term],
      hard: new Map([['pods', quantityOf('2')]]),
      used: new Map(),
    });
  });

  test('nothing given is nothing limited', () => {
    expect(required(decodeResourceQuota({}))).toEqual({
      namespace: '',
      name: '',
      scopes: [],
      hard: new Map(),
      used: new Map(),
    });
  });
});

import { describe, expect, test } from 'vitest';
import { decodeLimitedResource, decodeResourceQuota } from '#shared/kube/decode/decode-objects.ts';
import { amounts } from '#test/shared/domain/quota/builders.ts';

describe('decodeResourceQuota', () => {
  test('reads scopes of both kinds in their order, and the enforced limits', () => {
    const decoded = decodeResourceQuota({
      metadata: { namespace: 'team-a', name: 'q' },
      spec: {
        hard: { pods: '9' },
        scopes: ['NotTerminating'],
        scopeSelector: { matchExpressions: [{ scopeName: 'PriorityClass', operator: 'In', values: ['high'] }] },
      },
      status: { hard: { pods: '3' }, used: { pods: 2 } },
    });
    expect(decoded).toEqual({
      ok: true,
      value: {
        namespace: 'team-a',
        name: 'q',
        scopes: [
          { scopeName: 'NotTerminating', operator: 'Exists', values: [] },
          { scopeName: 'PriorityClass', operator: 'In', values: ['high'] },
        ],
        hard: amounts({ pods: '3' }),
        used: amounts({ pods: '2' }),
      },
    });
  });

  test('a quota without status enforces nothing', () => {
    const value = { namespace: '', name: '', scopes: [], hard: new Map(), used: new Map() };
    expect(decodeResourceQuota({ spec: { hard: { pods: '9' } } })).toEqual({ ok: true, value });
    expect(decodeResourceQuota({})).toEqual({ ok: true, value });
  });

  test.each<[string, unknown, string]>([
    ['a text', 'quota', ''],
    ['a limit that is no quantity', { status: { hard: { pods: 'many' } } }, 'status.hard.pods'],
    ['a usage that is a list', { status: { used: [] } }, 'status.used'],
    ['a scope that is no text', { spec: { scopes: ['BestEffort', 1] } }, 'spec.scopes[1]'],
    [
      'a term without shape',
      { spec: { scopeSelector: { matchExpressions: [{ values: 'high' }] } } },
      'spec.scopeSelector.matchExpressions[0].values',
    ],
  ])('refuses %s', (_, raw, field) => {
    expect(decodeResourceQuota(raw)).toMatchObject({ ok: false, field });
  });
});

describe('decodeLimitedResource', () => {
  test('reads an entry', () => {
    const matchScopes = [{ scopeName: 'PriorityClass', operator: 'Exists' }];
    expect(decodeLimitedResource({ resource: 'pods', matchContains: ['cpu'], matchScopes })).toEqual({
      ok: true,
      value: {
        apiGroup: '',
        resource: 'pods',
        matchContains: ['cpu'],
        matchScopes: [{ scopeName: 'PriorityClass', operator: 'Exists', values: [] }],
      },
    });
  });

  test('an empty entry limits nothing', () => {
    const value = { apiGroup: '', resource: '', matchContains: [], matchScopes: [] };
    expect(decodeLimitedResource({})).toEqual({ ok: true, value });
  });
});

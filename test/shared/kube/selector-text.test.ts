import { expect, test } from 'vitest';
import { selectorText } from '#shared/kube/list/read-some.ts';

test('a selector as the API server reads it in a query', () => {
  const matchLabels = new Map([
    ['app', 'web'],
    ['empty', ''],
  ]);
  const matchExpressions = [
    { key: 'tier', operator: 'In', values: ['a', 'b'] },
    { key: 'zone', operator: 'NotIn', values: ['c'] },
    { key: 'there', operator: 'Exists', values: [] },
    { key: 'gone', operator: 'DoesNotExist', values: [] },
  ];
  expect(selectorText({ matchLabels, matchExpressions })).toBe(
    'app in (web),empty in (),tier in (a,b),zone notin (c),there,!gone',
  );
  expect(selectorText({ matchLabels: new Map(), matchExpressions: [] })).toBe('');
});

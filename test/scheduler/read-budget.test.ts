import { expect, test } from 'vitest';
import { readBudget } from '#scheduler/cluster-view.ts';

function budget(values: number) {
  const list = Array.from({ length: values }, (_, index) => `v${index}`);
  const selector = { matchExpressions: [{ key: 'app', operator: 'In', values: list }] };
  return { metadata: { namespace: 'team', name: 'b' }, spec: { selector }, status: { disruptionsAllowed: 1 } };
}

test('a budget with a selector of a hundred labels and values is read', () => {
  expect(readBudget(budget(99))).toMatchObject({ ok: true, value: { name: 'b', disruptionsAllowed: 1 } });
});

test('a budget with a larger selector is left out, naming the field (T-39)', () => {
  const message = 'expected at most 100 labels and values, got 101';
  expect(readBudget(budget(100))).toEqual({ ok: false, field: 'spec.selector', message });
});

test('a budget without selector is read as before', () => {
  expect(readBudget({ metadata: { namespace: 'team', name: 'b' } })).toMatchObject({ ok: true });
});

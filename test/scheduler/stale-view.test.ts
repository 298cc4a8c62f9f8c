import { expect, test } from 'vitest';
import { isStale } from '#scheduler/cluster-view.ts';

const heardAt = (ms: number | undefined) => ({ lastContactMs: () => ms });

test.each<[string, readonly (number | undefined)[], boolean]>([
  ['heard a bookmark ago', [100_000, 125_000], false],
  ['heard within 75 s', [75_000], false],
  ['one kind silent for longer', [200_000, 74_999], true],
  ['never read', [undefined], false],
])('%s', (_, contacts, expected) => {
  expect(isStale(contacts.map(heardAt), 150_000)).toBe(expected);
});

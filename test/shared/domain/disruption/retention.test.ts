import { expect, test } from 'vitest';
import { expiredRecords } from '#shared/domain/disruption/disruption.ts';

const KEEP = { keepMs: 100, perNamespace: 2, total: 3 };

/** `a5` is of namespace a, created at 5. */
function expired(records: string, now: number): string {
  const stored = records
    .split(' ')
    .map((name) => ({ name, namespace: name.charAt(0), createdAt: Number(name.slice(1)) }));
  return expiredRecords(stored, KEEP, now)
    .map(({ name }) => name)
    .join(' ');
}

test.each([
  ['nothing is too old or too much', 'a1 b2 c3', 10, ''],
  ['too old', 'a1 b2', 101, 'a1'],
  ['too many of a namespace: the oldest of it', 'a3 a1 a2 b1', 10, 'a1'],
  ['too many in all: the oldest', 'a1 b2 c3 d4', 10, 'a1'],
  ['too many in all: of the namespaces that have the most', 'a1 b8 b9 c6 c7', 10, 'c6 b8'],
  ['too many in all: what is over goes to the newest', 'a1 b2 c3 c4', 10, 'c3'],
  ['a namespace that fills up costs others nothing while there is room', 'a9 a8 a7 a6 b1', 10, 'a6 a7'],
])('%s', (_, records, now, gone) => {
  expect(expired(records, now)).toBe(gone);
});

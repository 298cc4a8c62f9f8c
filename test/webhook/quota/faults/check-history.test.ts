import { describe, expect, test } from 'vitest';
import { checkHistory } from './check-history.ts';
import { NO_COST, type Cost, type HistoryEntry, type PodEntry, type QuotaEntry } from './history.ts';

const QUOTA = { name: 'q', classes: new Set(['high']), namespaces: new Set(['a']) };
const FIRST_REVISION = 100;

type Placed = 'revision' | 'at';
type Unplaced<T> = (T extends HistoryEntry ? Omit<T, Placed> : never) & { readonly at?: number };

function cost(pods: number, memory: number): Cost {
  return { pods, 'requests.memory': memory };
}

function pod(uid: string, more: Partial<Unplaced<PodEntry>> = {}): Unplaced<PodEntry> {
  const place = { namespace: 'a', className: 'high' };
  return { kind: 'pod', uid, name: uid, ...place, cost: cost(1, 64), isGone: false, ...more };
}

function gone(uid: string): Unplaced<PodEntry> {
  return pod(uid, { cost: NO_COST, isGone: true });
}

function quota(hard: Cost, used: Cost, more: Partial<Unplaced<QuotaEntry>> = {}): Unplaced<QuotaEntry> {
  return { kind: 'quota', name: 'q', hard, used, isCounted: true, reservations: 0, ...more };
}

/** Entries at revisions one after another, ten milliseconds apart unless they say otherwise. */
function check(...entries: readonly Unplaced<HistoryEntry>[]) {
  const placed: readonly HistoryEntry[] = entries.map((entry, index) => ({
    at: index * 10,
    ...entry,
    revision: FIRST_REVISION + index,
  }));
  return checkHistory(placed, { quotas: [QUOTA], longestRequestMs: 1_000 });
}

describe('checkHistory accepts', () => {
  const TWO = cost(2, 128);
  test.each<[string, readonly Unplaced<HistoryEntry>[]]>([
    ['pods up to the limit', [quota(TWO, TWO), pod('x'), pod('y')]],
    ['a pod in the place of one that is gone', [quota(TWO, TWO), pod('x'), pod('y'), gone('x'), pod('z')]],
    [
      'a pod in the place of one that has ended',
      [quota(TWO, TWO), pod('x'), pod('y'), pod('x', { cost: NO_COST }), pod('z')],
    ],
    [
      'pods of other classes and namespaces',
      [quota(NO_COST, NO_COST), pod('x', { className: 'low' }), pod('y', { namespace: 'b' })],
    ],
    ['used above the truth', [quota(TWO, TWO), quota(TWO, cost(5, 500))]],
    ['a limit lowered below what is there', [quota(TWO, TWO), pod('x'), pod('y'), quota(cost(1, 64), TWO)]],
    [
      'a pod admitted just before the limit was lowered',
      [quota(TWO, TWO), pod('x'), quota(cost(1, 64), TWO), pod('y', { at: 900 })],
    ],
    ['used of limits that have not been counted', [pod('x'), quota(TWO, NO_COST, { isCounted: false })]],
  ])('%s', (_, entries) => {
    expect(check(...entries).violations).toEqual([]);
  });
});

describe('checkHistory finds', () => {
  const ONE = cost(1, 64);
  const PLENTY = cost(9, 900);
  test.each<[string, readonly Unplaced<HistoryEntry>[], readonly string[]]>([
    [
      'one pod too many',
      [quota(ONE, PLENTY), pod('x'), pod('y', { cost: cost(1, 0) })],
      ['revision 102: q: with pod y pods is 2, at most 1 may be'],
    ],
    [
      'too much memory, in one pod or by a resize',
      [quota(ONE, PLENTY), pod('x', { cost: cost(1, 65) }), pod('x', { cost: cost(1, 66) })],
      [
        'revision 101: q: with pod x requests.memory is 65, at most 64 may be',
        'revision 102: q: with pod x requests.memory is 66, at most 64 may be',
      ],
    ],
    [
      'a pod admitted long after the limit was lowered',
      [quota(PLENTY, PLENTY), pod('x'), quota(ONE, PLENTY), pod('y', { at: 2_000, cost: cost(1, 0) })],
      ['revision 103: q: with pod y pods is 2, at most 1 may be'],
    ],
    [
      'a pod that was not charged',
      [quota(PLENTY, ONE), pod('x'), pod('y', { cost: cost(1, 0) })],
      ['revision 102: q: used says pods is 1, the pods cost 2'],
    ],
    [
      'used written below the truth, though only for one revision',
      [quota(PLENTY, ONE), pod('x'), quota(PLENTY, NO_COST), quota(PLENTY, ONE)],
      [
        'revision 102: q: used says pods is 0, the pods cost 1',
        'revision 102: q: used says requests.memory is 0, the pods cost 64',
      ],
    ],
  ])('%s', (_, entries, violations) => {
    expect(check(...entries).violations).toEqual(violations);
  });
});

test('checkHistory reports peak and final usage of every quota', () => {
  const { quotas, revisions } = check(
    quota(cost(3, 300), cost(2, 128)),
    pod('x'),
    pod('y'),
    gone('x'),
    quota(cost(3, 300), cost(1, 64), { reservations: 4 }),
  );
  expect({ revisions, q: quotas['q'] }).toEqual({
    revisions: 5,
    q: { peak: cost(2, 128), truth: cost(1, 64), used: cost(1, 64), reservations: 4 },
  });
});

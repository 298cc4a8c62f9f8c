import { describe, expect, test } from 'vitest';
import {
  type Account,
  countRemoval,
  type Debit,
  debitEviction,
  liveDebits,
  MAX_DEBITS,
} from '#shared/domain/disruption/account.ts';
import { HOUR, hourly, names, pods, wanted } from './accounts.ts';

const RULES = [hourly(pods(9))];

function counted(account: Account, pod: number, at: number, more: Parameters<typeof wanted>[2] = {}): Account {
  return countRemoval(account, wanted(pod, at, { cause: 'Deletion', ...more }), RULES);
}

describe('an account by time', () => {
  test('a removal that is noticed late stands among those of its time', () => {
    const account = [1, 5, 3].reduce<Account>((so, second, pod) => counted(so, pod, second * 1_000), []);
    expect(names(account)).toEqual(['uid-0', 'uid-2', 'uid-1']);
  });

  test('a debit by a clock that is ahead counts as of now, and lapses when it would', () => {
    const account = counted(counted([], 0, 1_000), 1, 9_000);
    const live = liveDebits(account, 5_000);
    expect(live.map(({ at, lapsesAt }) => [at, lapsesAt])).toEqual([
      [1_000, HOUR + 1_000],
      [5_000, HOUR + 9_000],
    ]);
  });

  test('a debit of the year 2036 holds up no eviction until then', () => {
    const at = 10 * 365 * 24 * HOUR;
    const [{ rule }] = [hourly()];
    const forged: Debit = { ...wanted(0, at), rules: [rule.key], lapsesAt: 2 * at, overran: undefined };
    expect(liveDebits([forged, { ...forged, uid: 'uid-1', at: 5_000 }], 4_000).map(({ uid }) => uid)).toEqual([
      'uid-1',
    ]);
    expect(debitEviction([forged], wanted(1, 5_000), [hourly()]).kind).toBe('debited');
  });

  test('a full account forgets what lapses next, be it not the oldest', () => {
    const full = Array.from({ length: MAX_DEBITS }, (_, pod): Debit => {
      const lapsesAt = pod === 7 ? HOUR : 2 * HOUR;
      return { ...wanted(pod, pod, { cause: 'Deletion' }), rules: ['limit/web'], lapsesAt, overran: undefined };
    });
    const after = names(counted(full, MAX_DEBITS, MAX_DEBITS));
    expect([after.length, after[0], after.includes('uid-7'), after.at(-1)]).toEqual([
      MAX_DEBITS,
      'uid-0',
      false,
      `uid-${MAX_DEBITS}`,
    ]);
  });
});

test('a cause that is known stays where the same removal is noticed again without one', () => {
  const drained = counted([], 0, 0, { cause: 'Drain', caller: 'ann' });
  expect(counted(drained, 0, 1_000, { cause: undefined })).toMatchObject([
    { at: 1_000, cause: 'Drain', caller: 'ann' },
  ]);
});

import { describe, expect, test } from 'vitest';
import type { Debit } from '#shared/domain/disruption/account.ts';
import { type Cause, type Disruption, madeRoom, NO_OUTCOME } from '#shared/domain/disruption/disruption.ts';
import { removalMistakes, type RemovalHistory } from './removal-history.ts';

const BECAUSE = { code: 'Deleted', text: 'it was deleted', facts: {} };

function record(uid: string, cause: Cause, others: readonly string[] = []): Disruption {
  return {
    namespace: 'default',
    name: uid,
    spec: {
      pod: uid,
      podUid: uid,
      owner: undefined,
      priorityClassName: undefined,
      classRule: undefined,
      priority: 0,
      node: 'n',
      removedAt: 0,
      decision: undefined,
      debited: undefined,
      ranked: [],
      requestedBy: undefined,
      because: BECAUSE,
      ...madeRoom(cause, undefined),
    },
    outcome: { ...NO_OUTCOME, others: others.map((podUid) => ({ pod: podUid, podUid })) },
  };
}

function debit(uid: string, at: number, more: Partial<Debit> = {}): Debit {
  const rest = { component: 'Others', rules: ['limit/web'], lapsesAt: at + 120_000, caller: undefined } as const;
  return { uid, pod: uid, at, cause: undefined, overran: undefined, ...rest, ...more };
}

const RIGHT: RemovalHistory = {
  removed: new Map([
    ['a', { name: 'a', cause: 'Drain' }],
    ['b', { name: 'b', cause: 'Deletion' }],
    ['c', { name: 'c', cause: 'Deletion' }],
  ]),
  records: [record('a', 'Drain'), record('b', 'Deletion', ['c'])],
  accounts: [[debit('a', 0)], [debit('a', 0), debit('b', 1), debit('c', 2, { cause: 'Deletion' })]],
  limit: { max: 1, windowMs: 10 },
};

describe('removalMistakes', () => {
  test.each<[string, Partial<RemovalHistory>, readonly string[]]>([
    ['one record and one unit each are right', {}, []],
    [
      'a pod has no record',
      { records: [record('a', 'Drain'), record('b', 'Deletion')] },
      ['c: Deletion is recorded as []'],
    ],
    [
      'a pod has two',
      { records: [...RIGHT.records, record('c', 'Deletion')] },
      ['c: Deletion is recorded as [Deletion,Deletion]'],
    ],
    [
      'the cause is another one',
      { records: [record('a', 'Unknown'), record('b', 'Deletion', ['c'])] },
      ['a: Drain is recorded as [Unknown]'],
    ],
    [
      'a pod is recorded that was not removed',
      { records: [...RIGHT.records, record('d', 'Deletion')] },
      ['d: recorded, and was not removed'],
    ],
    ['a pod has no unit', { accounts: [[debit('a', 0), debit('b', 1)]] }, ['c: not debited']],
    [
      'a pod has two units at one revision',
      { accounts: [...RIGHT.accounts, [debit('c', 1), debit('c', 2)]] },
      ['account 2: a pod is debited twice'],
    ],
    [
      'an eviction is let through beyond the limit',
      {
        accounts: [
          [debit('b', 0), debit('c', 0)],
          [debit('b', 0), debit('c', 0), debit('a', 9)],
        ],
      },
      ['a: let through beyond the limit'],
    ],
    [
      'a deletion at the same time, counted after it, does not make it one',
      { accounts: [[debit('a', 0), debit('b', 0), debit('c', 0)]] },
      [],
    ],
    [
      'nor is one once the window has passed, or one that was seen to happen',
      {
        accounts: [
          [debit('b', 0), debit('c', 0)],
          [debit('b', 0), debit('c', 0), debit('a', 10)],
          [debit('b', 0), debit('c', 0)],
          [debit('b', 0), debit('c', 0), debit('a', 9, { cause: 'Drain' })],
        ],
      },
      [],
    ],
  ])('%s', (_, part, mistakes) => {
    expect(removalMistakes({ ...RIGHT, ...part })).toEqual(mistakes);
  });
});

import { describe, expect, test } from 'vitest';
import type { Debit } from '#shared/domain/disruption/account.ts';
import { disruptionOf } from '#shared/domain/disruption/removal.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { wanted } from './accounts.ts';
import { DELETED, due, dueWrites, nominated, PREEMPTED, recordOf, SECOND, seen, writeAll } from './seen-removals.ts';

function begun(...names: readonly string[]): Removals {
  const removals = new Removals();
  names.forEach((name, at) => removals.begin(seen({ name }, DELETED, at)));
  return removals;
}

function debit(uid: string): Debit {
  const rest = { rules: ['limit/web'], lapsesAt: 9, overran: 'limit/web' };
  return { ...wanted(0, 0, { caller: 'ann' }), uid, ...rest };
}

describe('what has been written', () => {
  test('is not due again, and of a pod that is not followed nothing is', () => {
    const removals = begun('a');
    removals.written('uid-of-a-stranger', 'record');
    expect(due(removals, 0)).toEqual(['record uid-a']);
    removals.written('uid-a', 'record');
    removals.written('uid-a', 'record');
    expect(due(removals, 0)).toEqual([]);
    removals.written('uid-a', 'outcome');
    removals.written('uid-a', 'outcome');
    expect(removals.size).toBe(0);
  });

  test('a process that stops may forget everything since the oldest removal without a record', () => {
    const removals = begun('a', 'b');
    const since = [removals.unrecordedSince()];
    for (const uid of ['uid-a', 'uid-b']) {
      removals.written(uid, 'record');
      since.push(removals.unrecordedSince());
    }
    expect(since).toEqual([0, 1, undefined]);
  });

  test('waits for its debit, which may fail once', () => {
    const removals = begun('a');
    const dueAt = (now: number) => removals.due(now, 9).map(({ write }) => write);
    expect([dueAt(0), dueAt(39 * SECOND), dueAt(40 * SECOND)]).toEqual([[], [], ['record']]);
    removals.debits.done(['uid-a']);
    expect(dueAt(0)).toEqual(['record']);
  });

  test('has the caller and the limits of its debit, unless the record came first', () => {
    const removals = begun('before', 'after');
    removals.adoptDebit(debit('uid-before'));
    removals.adoptDebit(debit('uid-of-a-stranger'));
    const written = writeAll(removals, SECOND).map(({ removal }) => disruptionOf(removal).spec);
    expect(written.map(({ requestedBy, debited }) => [requestedBy, debited])).toEqual([
      ['ann', { rules: ['limit/web'], overran: 'limit/web' }],
      [undefined, undefined],
    ]);
    removals.adoptDebit(debit('uid-after'));
    for (const uid of ['uid-before', 'uid-after']) removals.gone(uid, SECOND);
    expect(dueWrites(removals, SECOND).map(({ removal }) => removal.debited?.rules)).toEqual([
      ['limit/web'],
      undefined,
    ]);
  });
});

test('an Event that came before its pod was nominated speaks for its own victim only', () => {
  const removals = new Removals();
  for (const name of ['one', 'two']) {
    removals.namePreemptor(`uid-victim-of-${name}`, `uid-${name}`);
    removals.begin(seen({ name: `victim-of-${name}`, priority: 0 }, PREEMPTED, 0));
  }
  removals.nominate(nominated('one', 0));
  expect(due(removals, 0)).toEqual(['record uid-victim-of-one']);
  expect(recordOf(removals, 0)?.spec.madeRoomFor?.pod).toBe('one');
});

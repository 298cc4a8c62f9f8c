import { describe, expect, test } from 'vitest';
import type { Evidence } from '#shared/domain/disruption/cause.ts';
import { PendingDebits } from '#shared/domain/disruption/pending-debits.ts';
import { Removals } from '#shared/domain/disruption/removals.ts';
import { BECAUSE, DELETED, EVICTED, MANY, MINUTE, PREEMPTED, SECOND, seen } from './seen-removals.ts';

const ALL = { most: MANY, left: new Set<string>(), evidenceOf: () => undefined };

function pendingOf(...removals: readonly Parameters<PendingDebits['see']>[0][]): PendingDebits {
  const debits = new PendingDebits();
  for (const removal of removals) debits.see(removal);
  return debits;
}

function dueNames(debits: PendingDebits, now: number, change: Partial<typeof ALL> = {}): readonly string[] {
  return debits.due(now, { ...ALL, ...change }).map(({ pod }) => pod);
}

describe('a removal is debited', () => {
  test.each<readonly [string, Evidence, boolean]>([
    ['a deletion', DELETED, true],
    ['a preemption', PREEMPTED, true],
    ['an eviction that an agent reports', { ...EVICTED, agent: BECAUSE }, true],
    ['an eviction that the rescheduler reports', { ...EVICTED, rescheduler: BECAUSE }, true],
    ['an eviction that the leader of the queues reports', { ...EVICTED, queues: BECAUSE }, true],
    ['an eviction that nobody has reported', EVICTED, false],
  ])('at once where no report can follow, otherwise after five seconds: %s', (_, evidence, isAtOnce) => {
    const debits = pendingOf(seen({ name: 'web' }, evidence, 0));
    expect(dueNames(debits, 4_999)).toEqual(isAtOnce ? ['web'] : []);
    expect(dueNames(debits, 5_000)).toEqual(['web']);
  });

  test('with what is known of it by then', () => {
    const debits = pendingOf(seen({ name: 'web' }, EVICTED, 0), seen({ name: 'db' }, DELETED, 0));
    const reported = { ...EVICTED, agent: BECAUSE };
    const evidenceOf = (uid: string) => (uid === 'uid-web' ? reported : undefined);
    expect(debits.due(0, { ...ALL, evidenceOf })).toMatchObject([
      { uid: 'uid-web', evidence: reported },
      { uid: 'uid-db', evidence: DELETED },
    ]);
  });

  test('once, as it was seen first', () => {
    const debits = pendingOf(seen({ name: 'web' }, PREEMPTED, 0), seen({ name: 'web' }, DELETED, SECOND));
    expect(debits.due(SECOND, ALL)).toMatchObject([{ at: 0, evidence: PREEMPTED }]);
    debits.done(['uid-web', 'uid-of-a-stranger']);
    expect([debits.size, dueNames(debits, SECOND)]).toEqual([0, []]);
  });

  test('after those before it, so many at a time', () => {
    const debits = pendingOf(...['a', 'b', 'c'].map((name, at) => seen({ name }, DELETED, at)));
    expect(dueNames(debits, SECOND, { most: 2 })).toEqual(['a', 'b']);
    debits.done(['uid-a']);
    expect(dueNames(debits, SECOND, { most: 2 })).toEqual(['b', 'c']);
  });

  test('later where its namespace failed a moment ago, which delays no other', () => {
    const debits = pendingOf(
      seen({ name: 'a', namespace: 'failing' }, DELETED, 0),
      seen({ name: 'b', namespace: 'other' }, DELETED, 1),
    );
    expect(dueNames(debits, SECOND, { left: new Set(['failing']), most: 1 })).toEqual(['b']);
  });

  test('by a replica that takes over within ten minutes', () => {
    const debits = pendingOf(seen({ name: 'old' }, DELETED, 0), seen({ name: 'new' }, DELETED, 1));
    debits.prune(10 * MINUTE);
    expect(dueNames(debits, 10 * MINUTE)).toEqual(['new']);
  });
});

test('what an agent reports after its pod was seen to go makes the debit certain', () => {
  const removals = new Removals();
  removals.begin(seen({ name: 'hog' }, EVICTED, 0));
  const limited = { most: MANY, left: ALL.left };
  expect(removals.dueDebits(0, limited)).toEqual([]);
  const report = { by: 'agent', uid: 'uid-hog', node: 'node-1', ranked: [], decision: undefined } as const;
  removals.reportEviction({ ...report, because: BECAUSE });
  expect(removals.dueDebits(0, limited)).toMatchObject([{ uid: 'uid-hog', evidence: { agent: BECAUSE } }]);
});

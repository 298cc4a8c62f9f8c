import fc from 'fast-check';
import { encodeAccount } from '#shared/api/disruption-account.ts';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  type Account,
  countRemoval,
  type Debit,
  debitEviction,
  fits,
  MAX_BYTES,
  MAX_DEBITS,
  SETTLED_MS,
  withoutSurvivors,
} from '#shared/domain/disruption/account.ts';
import { type CoveringRule, podsOf, shareOf } from '#shared/domain/disruption/limit-rule.ts';
import { covering, HOUR, hourly, names, percent, pods, uids, wanted } from './accounts.ts';

function accountOf(outcome: ReturnType<typeof debitEviction>): Account {
  if (outcome.kind !== 'debited') throw new Error(`exceeded: ${outcome.key}`);
  return outcome.account;
}

function seed(id: string): unknown {
  return JSON.parse(readFileSync(`test/vectors/seeds/${id}.json`, 'utf8'));
}

/** Evicts one pod after the other; what was let through is down. */
function evictInTurn(rule: CoveringRule, most: number) {
  let account: Account = [];
  return Array.from({ length: most }, (_, pod) => {
    const outcome = debitEviction(account, wanted(pod, pod), [rule]);
    if (outcome.kind === 'debited') ({ account } = outcome);
    return outcome.kind === 'debited';
  });
}

describe('a limit of removals in a time (S3-14)', () => {
  test('seed s3-14: every cause debits the same account, and a window ends after its length', () => {
    const { when, then } = seed('s3-14') as {
      readonly when: readonly { readonly at: number; readonly cause: string }[];
      readonly then: readonly { readonly allowed: boolean; readonly nextAllowedAt?: number }[];
    };
    let account: Account = [];
    when.forEach(({ at, cause }, index) => {
      const now = at * 1_000;
      if (cause === 'scheduler preemption') {
        account = countRemoval(account, wanted(index, now, { cause: 'Preemption' }), [hourly()]);
        return;
      }
      const outcome = debitEviction(account, wanted(index, now), [hourly()]);
      const expected = then[index];
      expect(outcome.kind === 'debited').toBe(expected?.allowed);
      if (outcome.kind === 'exceeded') expect(now + outcome.retryAfterMs).toBe((expected?.nextAllowedAt ?? 0) * 1_000);
      else ({ account } = outcome);
    });
    expect(names(account)).toEqual(['uid-2']);
  });

  test('a refusal has the limit, the window, the present rate and when there is room again', () => {
    const rule = hourly(pods(2));
    const account = [1, 2, 3].reduce<Account>((so, pod) => countRemoval(so, wanted(pod, pod * 1_000), [rule]), []);
    expect(debitEviction(account, wanted(4, 10_000), [rule])).toMatchObject({
      kind: 'exceeded',
      key: 'limit/web',
      what: 'window',
      most: 2,
      windowMs: HOUR,
      rate: 3,
      retryAfterMs: 2_000 + HOUR - 10_000,
    });
  });

  test('a limit of 0 never makes room', () => {
    expect(debitEviction([], wanted(1, 0), [hourly(pods(0))])).toMatchObject({ what: 'window', retryAfterMs: HOUR });
  });

  test('each of several windows counts', () => {
    const rule = covering({
      limits: [
        { max: pods(1), windowMs: 60_000 },
        { max: pods(2), windowMs: HOUR },
      ],
    });
    let account = accountOf(debitEviction([], wanted(1, 0), [rule]));
    expect(debitEviction(account, wanted(2, 59_999), [rule])).toMatchObject({ windowMs: 60_000 });
    account = accountOf(debitEviction(account, wanted(2, 60_000), [rule]));
    expect(debitEviction(account, wanted(3, 120_000), [rule])).toMatchObject({ windowMs: HOUR, most: 2 });
  });

  test.each([
    [percent(10), 50, 5],
    [percent(10), 5, 1],
    [percent(34), 3, 2],
    [percent(0), 10, 0],
    [pods(3), 1, 3],
  ])('%o of %i expected pods are %i, as the disruption controller rounds', (portion, expected, count) => {
    expect(podsOf(portion, expected)).toBe(count);
  });

  test('under two limits both are debited, or none', () => {
    const [wide, narrow] = [
      hourly(pods(2)),
      covering({ key: 'limit/all', limits: [{ max: pods(1), windowMs: HOUR }] }),
    ];
    const account = accountOf(debitEviction([], wanted(1, 0), [wide, narrow]));
    expect(account[0]?.rules).toEqual(['limit/web', 'limit/all']);
    expect(debitEviction(account, wanted(2, 5_000), [wide, narrow])).toMatchObject({ key: 'limit/all' });
    expect(debitEviction(account, wanted(2, 5_000), [wide])).toMatchObject({ kind: 'debited' });
  });

  test('without a limit nothing is counted and everything may go (S3-22)', () => {
    expect(debitEviction([], wanted(1, 0), [])).toEqual({ kind: 'debited', account: [], overran: undefined });
    expect(countRemoval([], wanted(1, 0), [])).toEqual([]);
  });
});

describe('a minimum that stays up (S3-15)', () => {
  test('seed s3-15: with four of five up, the second eviction is refused, and a loss keeps the quorum', () => {
    const { cases } = seed('s3-15') as {
      readonly cases: readonly { readonly given: Readonly<Record<string, number>> }[];
    };
    const { replicas = 0, quorum = 0, minUp = 0 } = cases[0]?.given ?? {};
    const rule = covering({ minAvailable: pods(minUp) }, { expected: replicas, up: uids(replicas) });
    const account = accountOf(debitEviction([], wanted(0, 0), [rule]));
    expect(debitEviction(account, wanted(1, 5_000), [rule])).toMatchObject({ what: 'minAvailable', most: 4, rate: 4 });
    expect(replicas - names(countRemoval(account, wanted(1, 6_000, { cause: 'NodeLost' }), [rule])).length).toBe(
      quorum,
    );
    const { replicas: many = 0, maxDownPercent = 0 } = cases[1]?.given ?? {};
    const share = covering({ minAvailable: percent(100 - maxDownPercent) }, { expected: many, up: uids(many) });
    expect(evictInTurn(share, 7)).toEqual([true, true, true, true, true, false, false]);
  });

  test('seed s3-39: a replacement that stays pending leaves no room for another', () => {
    const { given } = seed('s3-39') as { readonly given: { readonly replicas: number; readonly minUp: number } };
    const rule = { minAvailable: pods(given.minUp) };
    const account = accountOf(debitEviction([], wanted(0, 0), [covering(rule, { expected: 4, up: uids(4) })]));
    const later = covering(rule, { expected: 4, up: new Set(['uid-1', 'uid-2', 'uid-3']) });
    expect(debitEviction(account, wanted(1, HOUR), [later])).toMatchObject({ what: 'minAvailable', rate: 3 });
  });

  test('a pod that is not up may go: it takes nothing from those that are', () => {
    const rule = covering({ minAvailable: pods(5) }, { expected: 6, up: uids(5) });
    expect(debitEviction([], wanted(9, 0), [rule])).toMatchObject({ kind: 'debited' });
  });

  test('a pod counts as down from when its eviction was let through, although it still looks up (S3-21)', () => {
    const rule = covering({ minAvailable: pods(4) });
    const account = accountOf(debitEviction([], wanted(0, 0), [rule]));
    expect(debitEviction(account, wanted(1, 1), [rule])).toMatchObject({ what: 'minAvailable' });
  });
});

describe('one debit for one pod', () => {
  test('an eviction that is asked for twice is one', () => {
    const account = accountOf(debitEviction([], wanted(1, 0), [hourly()]));
    expect(debitEviction(account, wanted(1, 1_000), [hourly()])).toMatchObject({ kind: 'debited', account });
  });

  test('an eviction that was let through and did not happen is forgotten when it is asked for again', () => {
    const account = accountOf(debitEviction([], wanted(1, 0), [hourly()]));
    const again = accountOf(debitEviction(account, wanted(1, HOUR - 1), [hourly()]));
    expect(again.map(({ at }) => at)).toEqual([HOUR - 1]);
  });

  test('a removal that is seen later is the eviction that was let through, from when it happened', () => {
    const account = accountOf(debitEviction([], wanted(1, 0, { caller: 'ann' }), [hourly()]));
    const counted = countRemoval(account, wanted(1, 900, { cause: 'Drain' }), [hourly()]);
    expect(counted).toMatchObject([{ at: 900, cause: 'Drain', caller: 'ann', lapsesAt: HOUR + 900 }]);
    expect(countRemoval(counted, wanted(1, 900, { cause: 'Drain' }), [hourly()])).toBe(counted);
  });

  test('a removal long after an eviction that was let through is another one', () => {
    const account = accountOf(debitEviction([], wanted(1, 0, { component: 'Agent' }), [hourly()]));
    const seen = wanted(1, HOUR - 1, { cause: 'Deletion', component: 'Others' });
    expect(countRemoval(account, seen, [hourly()])).toMatchObject([{ at: HOUR - 1, component: 'Others' }]);
  });

  test('evictions whose pods still run are given back, once the API server had time to carry them out', () => {
    let account = accountOf(debitEviction([], wanted(1, 0), [hourly(pods(3))]));
    account = countRemoval(account, wanted(2, 0, { cause: 'Deletion' }), [hourly(pods(3))]);
    const survivors = new Set(['uid-1', 'uid-2']);
    expect(names(withoutSurvivors(account, survivors, SETTLED_MS - 1))).toEqual(['uid-1', 'uid-2']);
    expect(names(withoutSurvivors(account, survivors, SETTLED_MS))).toEqual(['uid-2']);
  });
});

describe('shares of the components (S3-19)', () => {
  const rule = covering({ limits: [{ max: pods(4), windowMs: HOUR }], shares: new Map([['Agent', 50]]) });

  test('a component gets no more than its share, and leaves the rest to the others', () => {
    let account: Account = [];
    for (const pod of [1, 2])
      account = accountOf(debitEviction(account, wanted(pod, 0, { component: 'Agent' }), [rule]));
    const third = debitEviction(account, wanted(3, 0, { component: 'Agent' }), [rule]);
    expect(third).toMatchObject({ what: 'share', most: 2, rate: 2 });
    expect(debitEviction(account, wanted(3, 0), [rule])).toMatchObject({ kind: 'debited' });
  });

  test('of a limit that allows any, a share is one pod at least', () => {
    expect([1, 4, 0].map((max) => shareOf(max, rule.rule, 'Agent'))).toEqual([1, 2, 0]);
  });
});

describe('the severe stage', () => {
  test('may overrun a limit, and the debit says which one', () => {
    const account = accountOf(debitEviction([], wanted(1, 0), [hourly()]));
    const outcome = debitEviction(account, wanted(2, 5_000), [hourly()], true);
    expect(outcome).toMatchObject({ kind: 'debited', overran: { key: 'limit/web', most: 1 } });
    expect(accountOf(outcome).at(-1)).toMatchObject({ uid: 'uid-2', overran: 'limit/web' });
  });
});

describe('the size of an account', () => {
  test('is bounded: a full one lets nothing go, and forgets what lapses next of what has happened', () => {
    const rule = hourly(pods(MAX_DEBITS * 2));
    const account = Array.from({ length: MAX_DEBITS }, (_, pod) =>
      wanted(pod, pod, { cause: 'Deletion' }),
    ).reduce<Account>(
      (so, each) => [...so, { ...each, rules: ['limit/web'], lapsesAt: each.at + HOUR, overran: undefined }],
      [],
    );
    const more = wanted(MAX_DEBITS, MAX_DEBITS);
    expect(debitEviction(account, more, [rule])).toMatchObject({ what: 'full', retryAfterMs: HOUR - MAX_DEBITS });
    const counted = countRemoval(account, { ...more, cause: 'Deletion' }, [rule]);
    expect([counted.length, counted[0]?.uid, counted.at(-1)?.uid]).toEqual([MAX_DEBITS, 'uid-1', `uid-${MAX_DEBITS}`]);
  });

  const byDefault = (owner: number): Debit => ({
    ...wanted(owner, owner),
    rules: [`owner/${owner}`],
    lapsesAt: owner + 24 * HOUR,
    overran: undefined,
  });

  test('owners with a default limit never hold up one another, however many there are', () => {
    const other = covering({ key: 'owner/another', limits: [{ max: pods(1), windowMs: 24 * HOUR }] });
    for (const owners of [501, MAX_DEBITS, 2 * MAX_DEBITS]) {
      const account = Array.from({ length: owners }, (_, owner) => byDefault(owner));
      const outcome = debitEviction(account, wanted(owners, owners), [other]);
      expect(outcome).toMatchObject({ kind: 'debited' });
      expect(accountOf(outcome).length).toBeLessThanOrEqual(MAX_DEBITS);
      expect(accountOf(outcome).at(-1)).toMatchObject({ uid: `uid-${owners}` });
    }
  });

  test('they give way to what a DisruptionLimit counts', () => {
    const account = Array.from({ length: MAX_DEBITS }, (_, owner) => byDefault(owner));
    const outcome = debitEviction(account, wanted(MAX_DEBITS, MAX_DEBITS), [hourly()]);
    expect(outcome).toMatchObject({ kind: 'debited' });
    expect([accountOf(outcome)[0]?.uid, accountOf(outcome).at(-1)?.rules]).toEqual(['uid-1', ['limit/web']]);
  });

  test('is bounded in bytes, whatever the names, so that etcd takes it', () => {
    const name = fc.string({ unit: fc.constantFrom('x', 'ü', '\u0001', '漢', '😀'), minLength: 100, maxLength: 400 });
    const rules = Array.from({ length: 200 }, (_, index) =>
      covering({ key: `limit/${'n'.repeat(240)}${index}`, limits: [{ max: pods(9_000), windowMs: HOUR }] }),
    );
    fc.assert(
      fc.property(name, fc.integer({ min: 0, max: 200 }), (caller, count) => {
        let account: Account = [];
        for (let pod = 0; pod < 60; pod += 1) {
          const seen = { ...wanted(pod, pod, { cause: 'KubeletEviction', caller }), pod: 'p'.repeat(253) };
          account = countRemoval(account, seen, rules.slice(0, count));
        }
        expect(fits(account)).toBe(true);
        expect(Buffer.byteLength(JSON.stringify(encodeAccount(account)))).toBeLessThanOrEqual(MAX_BYTES + 1_000);
      }),
      { seed: 20_261_128, numRuns: 20 },
    );
    const full = Array.from({ length: MAX_DEBITS }, (_, pod) => ({
      ...wanted(pod, pod),
      caller: '\u0001'.repeat(400),
      rules: ['limit/web'],
      lapsesAt: HOUR,
      overran: undefined,
    }));
    expect(debitEviction(full, wanted(MAX_DEBITS, 5), [hourly(pods(9_000))])).toMatchObject({ what: 'full' });
  });
});

import { describe, expect, test } from 'vitest';
import { type Account, type Debit, debitEviction, MAX_DEBITS } from '#shared/domain/disruption/account.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import { withoutSurplus } from '#shared/domain/disruption/needed-debits.ts';
import { prepareSelector } from '#shared/domain/labels/label-selector.ts';
import { covering, HOUR, hourly, names, percent, pods, wanted } from './accounts.ts';

const NOW = 1_000 * HOUR;

function limit(name: string, more: Partial<DisruptionLimit> = {}): DisruptionLimit {
  const limits = [{ max: pods(3), windowMs: HOUR }];
  const selector = prepareSelector({ matchLabels: new Map(), matchExpressions: [] });
  return { namespace: 'shop', name, selector, limits, minAvailable: undefined, shares: new Map(), ...more };
}

const LIMITS = [limit('web'), limit('db'), limit('share', { limits: [{ max: percent(10), windowMs: HOUR }] })];

function debits(count: number, change: Partial<Debit> | ((index: number) => Partial<Debit>)): Account {
  return Array.from({ length: count }, (_, index) => ({
    ...wanted(index, NOW - HOUR / 2 + index, { cause: 'Deletion' }),
    rules: ['limit/web'],
    lapsesAt: NOW + 100_000 * HOUR,
    overran: undefined,
    ...(typeof change === 'function' ? change(index) : change),
  }));
}

/** The answer to an eviction under limit `db`, whose account someone filled. */
function answer(account: Account): string {
  const db = hourly(pods(3));
  const rules = [{ ...db, rule: { ...db.rule, key: 'limit/db' } }];
  const left = withoutSurplus(account, { limits: LIMITS }, NOW);
  const outcome = debitEviction(left, wanted(MAX_DEBITS + 1, NOW), rules);
  return outcome.kind === 'debited' ? 'debited' : outcome.what;
}

describe('an account full of made-up debits', () => {
  test.each<[string, Partial<Debit> | ((index: number) => Partial<Debit>), string]>([
    ['of a limit that does not exist holds up nothing', { rules: ['limit/none'] }, 'debited'],
    ['of many limits that do not exist neither', (index) => ({ rules: [`limit/none-${index}`] }), 'debited'],
    ['of another limit holds up that one alone', {}, 'debited'],
    ['of no limit neither', { rules: [] }, 'debited'],
    ['of a limit in percent neither', { rules: ['limit/share'] }, 'debited'],
    ['whose window is over holds up nothing', { rules: ['limit/db'], at: NOW - 2 * HOUR }, 'debited'],
    ['dated years ahead neither', { rules: ['limit/web'], at: NOW + 9_000 * HOUR }, 'debited'],
    ['of the limit itself holds it up for its window', { rules: ['limit/db'] }, 'window'],
  ])('%s', (_, change, expected) => {
    expect(answer(debits(MAX_DEBITS, change))).toBe(expected);
  });
});

describe('what a crowded account keeps', () => {
  const kept = (account: Account, limits = LIMITS): Account => withoutSurplus(account, { limits }, NOW);

  test('the newest that fill a window, for each component', () => {
    const agents = debits(2, { component: 'Agent', at: NOW - HOUR + 1 });
    const left = kept([...agents, ...debits(1_500, {})]);
    expect(names(left)).toEqual([...names(agents), 'uid-1497', 'uid-1498', 'uid-1499']);
  });

  test('what is just going, where pods have to stay up', () => {
    const limits = [limit('web', { limits: [], minAvailable: pods(2) })];
    const going = debits(2, { at: NOW - 1_000 });
    expect(names(kept([...debits(1_500, {}), ...going], limits))).toEqual(names(going));
  });

  test('all that default limits count, and everything while it is not crowded', () => {
    const byDefault = debits(1_500, { rules: ['owner/1'] });
    expect(kept(byDefault)).toBe(byDefault);
    const few = debits(900, { rules: ['limit/none'] });
    expect(kept(few)).toBe(few);
  });

  test('as many as decide the same as all of them, on random accounts', () => {
    const rule = covering({ limits: [{ max: pods(3), windowMs: HOUR }], shares: new Map([['Agent', 34]]) });
    for (let seed = 0; seed < 50; seed += 1) {
      const mixed = debits(1_200, (index) => ({
        at: NOW - ((index * (seed + 7)) % 97) * (HOUR / 60),
        component: index % (seed + 2) === 0 ? 'Agent' : 'Others',
        rules: index % 400 === seed ? ['limit/web'] : ['limit/none'],
      }));
      for (const component of ['Agent', 'Others'] as const) {
        const ask = (account: Account) => debitEviction(account, wanted(9_999, NOW, { component }), [rule]).kind;
        expect([seed, component, ask(kept(mixed))]).toEqual([seed, component, ask(mixed)]);
      }
    }
  });
});

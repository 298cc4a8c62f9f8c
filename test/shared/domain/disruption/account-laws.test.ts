import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Account, countRemoval, debitEviction, liveDebits } from '#shared/domain/disruption/account.ts';
import { COMPONENTS } from '#shared/domain/disruption/limit-rule.ts';
import { covering, hourly, names, pods, wanted } from './accounts.ts';

const MINUTE = 60_000;
const steps = fc.array(
  fc.record({
    pod: fc.integer({ min: 0, max: 12 }),
    afterMs: fc.integer({ min: 0, max: 40 * MINUTE }),
    component: fc.constantFrom(...COMPONENTS),
    isAsked: fc.boolean(),
  }),
  { maxLength: 40 },
);

test('no window ever holds more than its limit by what was asked for, whatever else happens', () => {
  fc.assert(
    fc.property(steps, fc.integer({ min: 0, max: 4 }), (happenings, max) => {
      const rules = [
        hourly(pods(max)),
        covering({ key: 'limit/b', limits: [{ max: pods(2), windowMs: 10 * MINUTE }] }),
      ];
      let [account, now]: [Account, number] = [[], 0];
      const letThrough: number[] = [];
      for (const { pod, afterMs, component, isAsked } of happenings) {
        now += afterMs;
        const each = wanted(pod, now, { component });
        if (!isAsked) account = countRemoval(account, { ...each, cause: 'Deletion' }, rules);
        const outcome = isAsked ? debitEviction(account, each, rules) : undefined;
        if (outcome?.kind !== 'debited') continue;
        ({ account } = outcome);
        letThrough.push(now);
        const inside = liveDebits(account, now).filter(({ at }) => now - at < 60 * MINUTE);
        expect(inside.length).toBeLessThanOrEqual(max);
      }
    }),
    { seed: 20_261_127 },
  );
});

test('each pod is debited once at most, the oldest first, and counting again changes nothing', () => {
  fc.assert(
    fc.property(steps, (happenings) => {
      let [account, now]: [Account, number] = [[], 0];
      for (const { pod, afterMs, component } of happenings) {
        now += afterMs;
        const seen = wanted(pod, now, { component, cause: 'OOMKill' });
        account = countRemoval(account, seen, [hourly()]);
        expect(countRemoval(account, seen, [hourly()])).toBe(account);
      }
      expect(new Set(names(account)).size).toBe(account.length);
      expect(account.map(({ at }) => at)).toEqual(account.map(({ at }) => at).sort((left, right) => left - right));
    }),
    { seed: 20_261_127 },
  );
});

test('what is refused leaves the account as it was, and is let through when it says so', () => {
  fc.assert(
    fc.property(steps, (happenings) => {
      let [account, now]: [Account, number] = [[], 0];
      for (const { pod, afterMs } of happenings) {
        now += afterMs;
        const outcome = debitEviction(account, wanted(pod, now), [hourly(pods(2))]);
        if (outcome.kind === 'debited') ({ account } = outcome);
        else {
          const retry = debitEviction(account, wanted(pod, now + outcome.retryAfterMs), [hourly(pods(2))]);
          expect(retry.kind).toBe('debited');
        }
      }
    }),
    { seed: 20_261_127 },
  );
});

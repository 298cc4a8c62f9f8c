import type { Instant } from '#shared/domain/pod/pod.ts';
import { type Account, type Debit, isAhead, MAX_DEBITS } from './account.ts';
import { type DisruptionLimit, keyOfLimit, type LimitsOfNamespace } from './disruption-limit.ts';
import { GOING_MS, isDefaultKey, podsOf } from './limit-rule.ts';

/** An account with as many debits is looked through before more are added. */
const CROWDED = MAX_DEBITS / 2;

/**
 * The account without the debits that decide nothing, once it is crowded: those of limits that do not exist, whose
 * windows are over, whatever they say of their end, and beyond the most that a window counts. A full account refuses
 * removals, so what a stolen token writes into it must not hold up other limits, nor outlast a window. The same object
 * where nothing is left out.
 */
export function withoutSurplus(account: Account, { limits }: Pick<LimitsOfNamespace, 'limits'>, now: Instant): Account {
  if (account.length < CROWDED) return account;
  const counters = new Map(limits.map((limit) => [keyOfLimit(limit.name), countersOf(limit, now)]));
  const needed = new Set<Debit>();
  for (const debit of account.toSorted((a, b) => b.at - a.at)) {
    if (isAhead(debit, now)) continue;
    // Every window counts the debit, so all of them are asked.
    const counts = debit.rules.map((key) => isDefaultKey(key) || (counters.get(key)?.(debit) ?? false));
    if (counts.includes(true)) needed.add(debit);
  }
  return needed.size === account.length ? account : account.filter((debit) => needed.has(debit));
}

/** Whether a limit needs one more debit; they are shown from the newest to the oldest. */
function countersOf({ limits, minAvailable }: DisruptionLimit, now: Instant): (debit: Debit) => boolean {
  const windows = limits.map(({ max, windowMs }) => ({
    windowMs,
    // The window must show that it is full; in percent, of as many pods as an account can count.
    most: Math.max(1, podsOf(max, MAX_DEBITS)),
    seen: new Map<string, number>(),
  }));
  return ({ at, component }) => {
    let isNeeded = minAvailable !== undefined && Math.abs(now - at) < GOING_MS;
    for (const { windowMs, most, seen } of windows) {
      const before = seen.get(component) ?? 0;
      seen.set(component, before + 1);
      if (now - at < windowMs && before < most) isNeeded = true;
    }
    return isNeeded;
  };
}

import type { Debit, Wanted } from '#shared/domain/disruption/account.ts';
import type { Pod } from '#shared/domain/pod/pod.ts';
import type { CoveringRule, LimitRule, Portion } from '#shared/domain/disruption/limit-rule.ts';

/** A pod that runs: one that has not run is covered by no limit. */
export function running(pod: Pod): Pod {
  return { ...pod, status: { ...pod.status, phase: 'Running' } };
}

export const HOUR = 60 * 60_000;

export function pods(value: number): Portion {
  return { value, isPercent: false };
}

export function percent(value: number): Portion {
  return { value, isPercent: true };
}

/** The UIDs of so many pods that are up. */
export function uids(count: number): ReadonlySet<string> {
  return new Set(Array.from({ length: count }, (_, index) => `uid-${index}`));
}

export function covering(rule: Partial<LimitRule>, more: Partial<CoveringRule> = {}): CoveringRule {
  const { expected = 5, up = uids(5) } = more;
  return {
    rule: { key: 'limit/web', limits: [], minAvailable: undefined, shares: new Map(), ...rule },
    expected,
    up,
  };
}

/** At most one an hour, unless `max` says otherwise. */
export function hourly(max: Portion = pods(1), more: Partial<CoveringRule> = {}): CoveringRule {
  return covering({ limits: [{ max, windowMs: HOUR }] }, more);
}

export function wanted(pod: number, at: number, more: Partial<Wanted> = {}): Wanted {
  return {
    uid: `uid-${pod}`,
    pod: `web-${pod}`,
    at,
    component: 'Others',
    cause: undefined,
    caller: undefined,
    ...more,
  };
}

/** UIDs in an account. */
export function names(account: readonly Debit[]): readonly string[] {
  return account.map(({ uid }) => uid);
}

import type { Instant } from '#shared/domain/pod/pod.ts';
import { type Account, type Debit, debitsIn, liveDebits, podsUp } from './account.ts';
import { type DisruptionLimit, keyOfLimit } from './disruption-limit.ts';
import { type CoveringRule, podsOf } from './limit-rule.ts';

/** What a limit counts now (S3-20). */
export interface LimitStatus {
  readonly expectedPods: number;
  readonly podsUp: number;
  /** How many must stay up; `undefined` without such a rule. */
  readonly minAvailable: number | undefined;
  /** As `limits` of the spec, in the same order. */
  readonly windows: readonly WindowStatus[];
  /** The latest removals that count, the oldest first. */
  readonly debits: readonly Debit[];
}

export interface WindowStatus {
  readonly windowMs: number;
  readonly removed: number;
  readonly max: number;
  readonly left: number;
  /** When the next pod may be removed; `undefined` if one may be removed now, or never. */
  readonly roomAt: Instant | undefined;
}

const MAX_SHOWN = 10;

/** What a limit counts for the pods that it covers. */
export function limitStatus(
  limit: DisruptionLimit,
  covered: Omit<CoveringRule, 'rule'>,
  account: Account,
  now: Instant,
): LimitStatus {
  const key = keyOfLimit(limit.name);
  const own = liveDebits(account, now).filter(({ rules }) => rules.includes(key));
  const { minAvailable } = limit;
  return {
    expectedPods: covered.expected,
    podsUp: podsUp(covered, own, now).size,
    minAvailable: minAvailable && podsOf(minAvailable, covered.expected),
    windows: limit.limits.map((rate) => {
      const inside = debitsIn(own, { key, windowMs: rate.windowMs }, now);
      const max = podsOf(rate.max, covered.expected);
      const makesRoom = max === 0 ? undefined : inside[inside.length - max];
      return {
        windowMs: rate.windowMs,
        removed: inside.length,
        max,
        left: Math.max(0, max - inside.length),
        roomAt: makesRoom && makesRoom.at + rate.windowMs,
      };
    }),
    debits: own.slice(-MAX_SHOWN),
  };
}

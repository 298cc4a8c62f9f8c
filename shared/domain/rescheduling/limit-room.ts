import { type Account, countWindow, liveDebits, podsUp } from '#shared/domain/disruption/account.ts';
import { countPods, keyOfLimit } from '#shared/domain/disruption/covering-rules.ts';
import type { DisruptionLimit } from '#shared/domain/disruption/disruption-limit.ts';
import { podsOf } from '#shared/domain/disruption/limit-rule.ts';
import type { Instant, Pod } from '#shared/domain/pod/pod.ts';
import type { RateLimit } from './restraint.ts';

/** What a DisruptionLimit is counted on. */
export interface LimitSources {
  /** Pods of the namespace. */
  readonly pods: readonly Pod[];
  readonly account: Account;
  readonly now: Instant;
}

/**
 * A DisruptionLimit as a pass counts it: how many more pods that it covers may be moved now, by its windows, the share of
 * the scheduler's components, and the pods that must stay up. Counted once a pod that it covers is looked at, because
 * few are. The webhook still decides at each eviction.
 */
export function rateLimitOf(limit: DisruptionLimit, sources: () => LimitSources): RateLimit {
  const { namespace, name, selector } = limit;
  let left: number | undefined;
  return {
    name: `DisruptionLimit ${namespace}/${name}`,
    covers: (pod) => pod.namespace === namespace && selector.matches(pod.labels),
    get left() {
      return (left ??= Math.max(0, roomUnder(limit, sources())));
    },
  };
}

function roomUnder(limit: DisruptionLimit, { pods, account, now }: LimitSources): number {
  const covered = countPods(pods.filter(({ labels }) => limit.selector.matches(labels)));
  const { minAvailable } = limit;
  const live = liveDebits(account, now);
  const above = minAvailable && podsUp(covered, live, now).size - podsOf(minAvailable, covered.expected);
  const rule = { key: keyOfLimit(limit.name), shares: limit.shares };
  const question = { rule, expected: covered.expected, component: 'Scheduler', at: now } as const;
  const rooms = limit.limits.map((rate) => {
    const { inside, max, own, share } = countWindow(live, rate, question);
    return Math.min(max - inside.length, share - own.length);
  });
  return Math.min(above ?? Infinity, ...rooms);
}

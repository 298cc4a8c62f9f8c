import { type Account, countWindow, liveDebits, podsUp } from '#shared/domain/disruption/account.ts';
import {
  countPods,
  keyOfLimit,
  type LimitObjects,
  limitsByNamespace,
  type LimitsOfNamespace,
  rulesOf,
} from '#shared/domain/disruption/disruption-limit.ts';
import { type LimitRule, podsOf } from '#shared/domain/disruption/limit-rule.ts';
import { memoize } from '#shared/domain/base/memoize.ts';
import { type Instant, type Pod, ownerOf } from '#shared/domain/pod/pod.ts';
import type { ClusterSnapshot } from '#shared/domain/snapshot/cluster-snapshot.ts';
import { podsIn } from '#shared/domain/snapshot/snapshot-pods.ts';
import type { LimitsOf, RemovalRate } from './restraint.ts';

/** Pods that limits count, by namespace. */
export interface LimitSources {
  readonly limits: (namespace: string) => LimitsOfNamespace;
  readonly pods: (namespace: string) => readonly Pod[];
  readonly account: (namespace: string) => Account;
  readonly now: Instant;
}

/** The limits of a cluster and their counts. */
export interface CountedLimits extends LimitObjects {
  readonly accounts: Iterable<{ readonly namespace: string; readonly account: Account }>;
}

/** The limits of the pods of a snapshot, as a pass counts them. */
export function limitsIn(snapshot: ClusterSnapshot, counted: CountedLimits, now: Instant): LimitsOf {
  const accounts = new Map(Array.from(counted.accounts, ({ namespace, account }) => [namespace, account]));
  return createPodLimits({
    limits: limitsByNamespace(counted, snapshot),
    pods: (namespace) => Array.from(podsIn(snapshot, namespace), ({ pod }) => pod),
    account: (namespace) => accounts.get(namespace) ?? [],
    now,
  });
}

/**
 * The limits that cover a pod as a pass counts them: each DisruptionLimit that selects it, else the default limit of
 * its owner. How many more pods may be moved now follows from the windows of a limit, the share of the scheduler's
 * components, and the pods that must stay up. A limit is counted only when a pod that it covers is examined, because
 * few are. The webhook still decides on each eviction.
 */
export function createPodLimits(sources: LimitSources): LimitsOf {
  const limitsOf = memoize(sources.limits);
  const known = new Map<string, RemovalRate>();
  return (pod) =>
    rulesOf(pod, limitsOf(pod.namespace)).map((rule) => {
      const id = `${pod.namespace}/${rule.key}`;
      const limit = known.get(id) ?? { name: nameOf(rule, pod), left: Math.max(0, roomUnder(rule, pod, sources)) };
      known.set(id, limit);
      return limit;
    });
}

type LimitOfPod = ReturnType<typeof rulesOf>[number];

function nameOf({ key }: LimitRule, pod: Pod): string {
  const limit = keyOfLimit('');
  return key.startsWith(limit)
    ? `DisruptionLimit ${pod.namespace}/${key.slice(limit.length)}`
    : `the default limit of ${ownerOf(pod) ?? ''}`;
}

function roomUnder(rule: LimitOfPod, { namespace }: Pod, { pods, account, now }: LimitSources): number {
  const covered = countPods(pods(namespace).filter(rule.covers));
  const { minAvailable } = rule;
  const live = liveDebits(account(namespace), now);
  const above = minAvailable && podsUp(covered, live, now).size - podsOf(minAvailable, covered.expected);
  const question = { rule, expected: covered.expected, component: 'Scheduler', at: now } as const;
  const rooms = rule.limits.map((rate) => {
    const { inside, max, own, share } = countWindow(live, rate, question);
    return Math.min(max - inside.length, share - own.length);
  });
  return Math.min(above ?? Infinity, ...rooms);
}

import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import type { RankingKey } from './ranking-key.ts';
import {
  daemonSetsLast,
  exceedsRequests,
  markedLast,
  missingStatisticsFirst,
  missingStatisticsLast,
  ownerDisruptedLongestAgo,
  priority,
  qos,
  runTime,
  shareOfRequest,
  uid,
  usageAboveRequests,
  withControllerFirst,
} from './ranking-key.ts';

/** Keys in the order in which they are asked; the first that distinguishes two pods decides. */
export type RankingOrder = readonly RankingKey[];

/** Keys that a policy may list. */
export const POLICY_KEYS = {
  exceedsRequests,
  priority,
  usageAboveRequests,
  shareOfRequest,
  qos,
  runTime,
} as const satisfies Readonly<Record<string, RankingKey>>;

export type PolicyKeyName = keyof typeof POLICY_KEYS;

/** How a policy ranks: a named preset, or its own keys. */
export type PolicyRanking = 'Kubernetes' | 'ShareOfRequest' | { readonly keys: readonly PolicyKeyName[] };

export interface RankingPolicy {
  readonly ranking: PolicyRanking;
  /** What to do about pods without statistics: leave them out, or rank them at either end. */
  readonly missingStats: 'Never' | 'Last' | 'First';
  readonly daemonSets: 'Last' | 'Rank';
}

const UNREQUESTED: readonly StarvedResource[] = ['pids', 'io'];

/** What decides between pods that are equal in every key of the policy: the order is total and always the same. */
const TIE_BREAKERS: RankingOrder = [ownerDisruptedLongestAgo, withControllerFirst, runTime, uid];

/**
 * The kubelet's own order (`rankMemoryPressure`, `rankDiskPressureFunc` and `rankPIDPressure` in
 * `pkg/kubelet/eviction/helpers.go`). It leaves ties, which then stay in the order given.
 */
export function kubeletOrder(resource: StarvedResource): RankingOrder {
  return resource === 'pids'
    ? [priority, missingStatisticsFirst, usageAboveRequests]
    : [missingStatisticsFirst, exceedsRequests, priority, usageAboveRequests];
}

/** Whether wishes to go last count. */
export type Wishes = 'honoured' | 'ignored';

/**
 * The total order of a policy: its keys, tie-breakers down to the UID, and among pods that are equal in "uses more than
 * it requests" the wishes to go last. A wish never puts a pod above its request after one that keeps to it.
 */
export function policyOrder(
  policy: RankingPolicy,
  resource: StarvedResource,
  wishes: Wishes = 'honoured',
): RankingOrder {
  const keys = keysOf(policy.ranking, resource);
  return [
    ...(policy.missingStats === 'First' ? [] : [missingStatisticsLast]),
    ...(wishes === 'ignored' ? keys : withWishes(keys, wishesOf(policy), resource)),
    ...TIE_BREAKERS,
  ];
}

function wishesOf({ daemonSets }: RankingPolicy): RankingOrder {
  return daemonSets === 'Last' ? [markedLast, daemonSetsLast] : [markedLast];
}

/** For a resource that cannot be requested every pod is above its request, so all are equal. */
function withWishes(keys: RankingOrder, wishes: RankingOrder, resource: StarvedResource): RankingOrder {
  const at = keys.indexOf(exceedsRequests) + 1;
  if (at > 0) return [...keys.slice(0, at), ...wishes, ...keys.slice(at)];
  return [...(UNREQUESTED.includes(resource) ? wishes : wishes.map(withinRequest)), ...keys];
}

/** The key for pods that keep to their request; all others are equal in it. */
function withinRequest(key: RankingKey): RankingKey {
  return { ...key, placeOf: (candidate) => (candidate.exceedsRequest ? 0 : key.placeOf(candidate)) };
}

function keysOf(ranking: PolicyRanking, resource: StarvedResource): RankingOrder {
  if (ranking === 'Kubernetes') return kubeletOrder(resource);
  if (ranking === 'ShareOfRequest') return [missingStatisticsFirst, priority, ...shareKeys(resource)];
  return [missingStatisticsFirst, ...ranking.keys.map((name) => POLICY_KEYS[name])];
}

/** For a resource that cannot be requested every share is infinite, so the amount decides. */
function shareKeys(resource: StarvedResource): RankingOrder {
  return UNREQUESTED.includes(resource) ? [usageAboveRequests] : [shareOfRequest];
}

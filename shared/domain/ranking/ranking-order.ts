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

/** Keys in the order in which they are asked; the first that tells two pods apart decides. */
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

/** What decides between pods that are equal in every key of the policy: always somebody goes first, always the same one. */
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

/** The total order of a policy: wishes to be spared, the policy's keys, tie-breakers down to the UID. */
export function policyOrder(policy: RankingPolicy, resource: StarvedResource): RankingOrder {
  return [
    markedLast,
    ...(policy.daemonSets === 'Last' ? [daemonSetsLast] : []),
    ...(policy.missingStats === 'First' ? [] : [missingStatisticsLast]),
    ...keysOf(policy.ranking, resource),
    ...TIE_BREAKERS,
  ];
}

function keysOf(ranking: PolicyRanking, resource: StarvedResource): RankingOrder {
  if (ranking === 'Kubernetes') return kubeletOrder(resource);
  if (ranking === 'ShareOfRequest') return [missingStatisticsFirst, priority, ...shareKeys(resource)];
  return [missingStatisticsFirst, ...ranking.keys.map((name) => POLICY_KEYS[name])];
}

/** Of what nobody can request every share is infinite, so the amount decides. */
function shareKeys(resource: StarvedResource): RankingOrder {
  return UNREQUESTED.includes(resource) ? [usageAboveRequests] : [shareOfRequest];
}

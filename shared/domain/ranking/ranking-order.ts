import type { StarvedResource } from '#shared/domain/pressure/signal.ts';
import { compareTexts } from '#shared/domain/base/texts.ts';
import { compareDecimals } from '#shared/domain/quantity/quantity.ts';
import { type Candidate, HIGHEST_PRIORITY, LOWEST_PRIORITY, mustMakeWay } from './candidate.ts';
import { RESOURCES } from './pod-usage.ts';

/** One ranking key: a number per pod; the smaller number is evicted first. */
export interface RankingKey {
  readonly name: string;
  /** Why it is evicted before the other, for people. */
  readonly says: string;
  /** The same, for a pod within its request. */
  readonly saysWithinRequest?: string;
  readonly sortKey: (candidate: Candidate) => number;
  /** The lowest and highest value, if all values are whole numbers. */
  readonly range?: readonly [least: number, most: number];
  /** Decides between pods with the same number; negative if the left one goes first. */
  readonly refine?: ((left: Candidate, right: Candidate) => number) | undefined;
}

const YES_OR_NO = [0, 1] as const;

/** Pods without statistics come first, as with the kubelet. */
const missingStatisticsFirst: RankingKey = {
  name: 'missingStatisticsFirst',
  says: 'it has no statistics',
  sortKey: ({ usage }) => (usage === undefined ? 0 : 1),
  range: YES_OR_NO,
};

const missingStatisticsLast: RankingKey = {
  name: 'missingStatisticsLast',
  says: 'the other has no statistics',
  sortKey: ({ usage }) => (usage === undefined ? 1 : 0),
  range: YES_OR_NO,
};

/** Pods in spare room come first where room is short, whatever their priority: they have requested none of it. */
const inSpareRoomFirst: RankingKey = {
  name: 'inSpareRoomFirst',
  says: 'it runs in spare room',
  sortKey: (candidate) => (mustMakeWay(candidate) ? 0 : 1),
  range: YES_OR_NO,
};

/** Pods that use strictly more than they request come first. */
const exceedsRequests: RankingKey = {
  name: 'exceedsRequests',
  says: 'it uses more than it requests',
  sortKey: ({ exceedsRequest }) => (exceedsRequest ? 0 : 1),
  range: YES_OR_NO,
};

/** Lower priority comes first. */
const priority: RankingKey = {
  name: 'priority',
  says: 'its priority is lower',
  sortKey: ({ facts }) => facts.priority,
  range: [LOWEST_PRIORITY, HIGHEST_PRIORITY],
};

/** The larger usage minus request comes first, compared exactly. */
const usageAboveRequests: RankingKey = {
  name: 'usageAboveRequests',
  says: 'it exceeds its request by more',
  saysWithinRequest: 'it is closer to its request',
  sortKey: ({ roundedOverage }) => -roundedOverage,
  refine: (left, right) => compareDecimals(right.overage, left.overage),
};

/** The larger usage divided by request comes first (S0-15). */
const shareOfRequest: RankingKey = {
  name: 'shareOfRequest',
  says: 'it uses more of its request',
  sortKey: ({ share }) => -share,
};

const QOS_CLASSES: readonly string[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/** BestEffort, then Burstable, then Guaranteed; an unknown class comes first. */
const qos: RankingKey = {
  name: 'qos',
  says: 'its QoS class is lower',
  sortKey: ({ facts }) => QOS_CLASSES.indexOf(facts.qos),
  range: [-1, QOS_CLASSES.length - 1],
};

/**
 * The shortest running time, which loses the least work, comes first; a pod that has not started counts as shortest.
 */
const runTime: RankingKey = {
  name: 'runTime',
  says: 'it has run for a shorter time',
  sortKey: ({ facts }) => -(facts.startedAt ?? Infinity),
};

/** Pods that asked to be last come after all others. */
const markedLast: RankingKey = {
  name: 'markedLast',
  says: 'the other asked to go last',
  sortKey: ({ isMarkedLast }) => (isMarkedLast ? 1 : 0),
  range: YES_OR_NO,
};

/** A DaemonSet's pod returns to this node at once, so evicting it gains little. */
const daemonSetsLast: RankingKey = {
  name: 'daemonSetsLast',
  says: 'the other belongs to a DaemonSet',
  sortKey: ({ facts }) => (facts.isDaemonSetPod ? 1 : 0),
  range: YES_OR_NO,
};

/** What the other pods of a gang are worth is not seen from one node, so a gang decides among equals only. */
const gangsLast: RankingKey = {
  name: 'gangsLast',
  says: 'the other belongs to a gang',
  sortKey: ({ facts }) => (facts.isOfGang === true ? 1 : 0),
  range: YES_OR_NO,
};

/** Recently disrupted owners come last when all else is equal. */
const ownerDisruptedLongestAgo: RankingKey = {
  name: 'ownerDisruptedLongestAgo',
  says: 'its owner was disrupted longer ago',
  sortKey: ({ ownerDisruptedAt }) => ownerDisruptedAt ?? -Infinity,
};

/** A pod without a controller is not recreated (D-17). */
const withControllerFirst: RankingKey = {
  name: 'withControllerFirst',
  says: 'a controller will recreate it',
  sortKey: ({ facts }) => (facts.hasController ? 0 : 1),
  range: YES_OR_NO,
};

/** Two pods never share a UID, so this key decides the remaining ties. */
const uid: RankingKey = {
  name: 'uid',
  says: 'its UID comes first',
  sortKey: () => 0,
  range: [0, 0],
  refine: (left, right) => compareTexts(left.facts.pod.uid, right.facts.pod.uid),
};

/** Keys in order; the first that distinguishes two pods decides. */
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
  /** How to treat pods without statistics: leave them out, or rank them at either end. */
  readonly missingStats: 'Never' | 'Last' | 'First';
  readonly daemonSets: 'Last' | 'Rank';
}

/** Tie-breakers for pods that are equal in every key of the policy: the order is total and always the same. */
const TIE_BREAKERS: RankingOrder = [gangsLast, ownerDisruptedLongestAgo, withControllerFirst, runTime, uid];

/**
 * The kubelet's own order (`rankMemoryPressure`, `rankDiskPressureFunc` and `rankPIDPressure` in
 * `pkg/kubelet/eviction/helpers.go`). It leaves ties, which stay in the given order.
 */
export function kubeletOrder(resource: StarvedResource): RankingOrder {
  return resource === 'pids'
    ? [priority, missingStatisticsFirst, usageAboveRequests]
    : [missingStatisticsFirst, exceedsRequests, priority, usageAboveRequests];
}

/** Whether requests to be evicted last count. */
export type Wishes = 'honoured' | 'ignored';

/**
 * The total order of a policy: its keys, tie-breakers down to the UID, and, among pods equal in "uses more than it
 * requests", the requests to be evicted last. Such a request never puts a pod above its request after a pod within its
 * request.
 */
export function policyOrder(
  policy: RankingPolicy,
  resource: StarvedResource,
  wishes: Wishes = 'honoured',
): RankingOrder {
  const keys = keysOf(policy.ranking, resource);
  return [
    ...(policy.missingStats === 'First' ? [] : [missingStatisticsLast]),
    inSpareRoomFirst,
    ...(wishes === 'ignored' ? keys : withWishes(keys, wishesOf(policy), resource)),
    ...TIE_BREAKERS,
  ];
}

function wishesOf({ daemonSets }: RankingPolicy): RankingOrder {
  return daemonSets === 'Last' ? [markedLast, daemonSetsLast] : [markedLast];
}

/** For a resource that cannot be requested, every pod is above its request, so all are equal. */
function withWishes(keys: RankingOrder, wishes: RankingOrder, resource: StarvedResource): RankingOrder {
  const at = keys.indexOf(exceedsRequests) + 1;
  if (at > 0) return [...keys.slice(0, at), ...wishes, ...keys.slice(at)];
  return [...(!RESOURCES[resource].requestable ? wishes : wishes.map(withinRequest)), ...keys];
}

/** The key applied only to pods within their request; all others are equal in it. */
function withinRequest(key: RankingKey): RankingKey {
  return { ...key, sortKey: (candidate) => (candidate.exceedsRequest ? 0 : key.sortKey(candidate)) };
}

function keysOf(ranking: PolicyRanking, resource: StarvedResource): RankingOrder {
  if (ranking === 'Kubernetes') return kubeletOrder(resource);
  if (ranking === 'ShareOfRequest') return [missingStatisticsFirst, priority, ...shareKeys(resource)];
  return [missingStatisticsFirst, ...ranking.keys.map((name) => POLICY_KEYS[name])];
}

/** For a resource that cannot be requested, every share is infinite, so the amount decides. */
function shareKeys(resource: StarvedResource): RankingOrder {
  return RESOURCES[resource].requestable ? [shareOfRequest] : [usageAboveRequests];
}

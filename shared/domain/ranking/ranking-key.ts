import { compareDecimals } from '#shared/domain/model/decimal.ts';
import type { Candidate } from './candidate.ts';

/** One reason to go before another: a number per pod, the smaller number goes first. */
export interface RankingKey {
  readonly name: string;
  readonly placeOf: (candidate: Candidate) => number;
  /** Decides between pods with the same number; negative if the left one goes first. */
  readonly refine?: (left: Candidate, right: Candidate) => number;
}

/** Who has no statistics goes first, as with the kubelet. */
export const missingStatisticsFirst: RankingKey = {
  name: 'missingStatisticsFirst',
  placeOf: ({ usage }) => (usage === undefined ? 0 : 1),
};

export const missingStatisticsLast: RankingKey = {
  name: 'missingStatisticsLast',
  placeOf: ({ usage }) => (usage === undefined ? 1 : 0),
};

/** Who uses strictly more than it requests goes first. */
export const exceedsRequests: RankingKey = {
  name: 'exceedsRequests',
  placeOf: ({ exceedsRequest }) => (exceedsRequest ? 0 : 1),
};

/** Lower priority goes first. */
export const priority: RankingKey = { name: 'priority', placeOf: ({ facts }) => facts.priority };

/** The larger usage minus request goes first, compared exactly. */
export const usageAboveRequests: RankingKey = {
  name: 'usageAboveRequests',
  placeOf: ({ roundedOverage }) => -roundedOverage,
  refine: (left, right) => compareDecimals(right.overage, left.overage),
};

/** The larger usage divided by request goes first (S0-15). */
export const shareOfRequest: RankingKey = { name: 'shareOfRequest', placeOf: ({ share }) => -share };

const QOS_CLASSES: readonly string[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/** BestEffort, then Burstable, then Guaranteed; a class that is none of them goes first. */
export const qos: RankingKey = { name: 'qos', placeOf: ({ facts }) => QOS_CLASSES.indexOf(facts.qos) };

/** Who has run for the shortest time, and so loses the least work, goes first; not started is shorter than any. */
export const runTime: RankingKey = { name: 'runTime', placeOf: ({ facts }) => -(facts.startedAt ?? Infinity) };

/** Who asked to be spared goes after everybody else. */
export const markedLast: RankingKey = { name: 'markedLast', placeOf: ({ isMarkedLast }) => (isMarkedLast ? 1 : 0) };

/** A DaemonSet's pod comes straight back to this node, so evicting it gains little. */
export const daemonSetsLast: RankingKey = {
  name: 'daemonSetsLast',
  placeOf: ({ facts }) => (facts.isDaemonSetPod ? 1 : 0),
};

/** Owners that were hit recently are spared when all else is equal. */
export const ownerDisruptedLongestAgo: RankingKey = {
  name: 'ownerDisruptedLongestAgo',
  placeOf: ({ ownerDisruptedAt }) => ownerDisruptedAt ?? -Infinity,
};

/** Nobody makes a pod without a controller again (D-17). */
export const withControllerFirst: RankingKey = {
  name: 'withControllerFirst',
  placeOf: ({ facts }) => (facts.hasController ? 0 : 1),
};

/** Two pods never share a UID, so this decides whatever is left. */
export const uid: RankingKey = {
  name: 'uid',
  placeOf: () => 0,
  refine: (left, right) => compareTexts(left.facts.pod.uid, right.facts.pod.uid),
};

function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  return left < right ? -1 : 1;
}

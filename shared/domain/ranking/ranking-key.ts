import { compareTexts } from '#shared/domain/model/compare-texts.ts';
import { compareDecimals } from '#shared/domain/quantity/decimal.ts';
import type { Candidate } from './candidate.ts';
import { HIGHEST_PRIORITY, LOWEST_PRIORITY } from './candidate.ts';

/** One reason to go before another: a number per pod, the smaller number goes first. */
export interface RankingKey {
  readonly name: string;
  /** Why it goes before the other, for people. */
  readonly says: string;
  readonly placeOf: (candidate: Candidate) => number;
  /** Least and most place, where all places are whole numbers. */
  readonly range?: readonly [least: number, most: number];
  /** Decides between pods with the same number; negative if the left one goes first. */
  readonly refine?: ((left: Candidate, right: Candidate) => number) | undefined;
}

const YES_OR_NO = [0, 1] as const;

/** Who has no statistics goes first, as with the kubelet. */
export const missingStatisticsFirst: RankingKey = {
  name: 'missingStatisticsFirst',
  says: 'it has no statistics',
  placeOf: ({ usage }) => (usage === undefined ? 0 : 1),
  range: YES_OR_NO,
};

export const missingStatisticsLast: RankingKey = {
  name: 'missingStatisticsLast',
  says: 'the other has no statistics',
  placeOf: ({ usage }) => (usage === undefined ? 1 : 0),
  range: YES_OR_NO,
};

/** Who uses strictly more than it requests goes first. */
export const exceedsRequests: RankingKey = {
  name: 'exceedsRequests',
  says: 'it uses more than it requests',
  placeOf: ({ exceedsRequest }) => (exceedsRequest ? 0 : 1),
  range: YES_OR_NO,
};

/** Lower priority goes first. */
export const priority: RankingKey = {
  name: 'priority',
  says: 'its priority is lower',
  placeOf: ({ facts }) => facts.priority,
  range: [LOWEST_PRIORITY, HIGHEST_PRIORITY],
};

/** The larger usage minus request goes first, compared exactly. */
export const usageAboveRequests: RankingKey = {
  name: 'usageAboveRequests',
  says: 'its usage stands higher against its request',
  placeOf: ({ roundedOverage }) => -roundedOverage,
  refine: (left, right) => compareDecimals(right.overage, left.overage),
};

/** The larger usage divided by request goes first (S0-15). */
export const shareOfRequest: RankingKey = {
  name: 'shareOfRequest',
  says: 'it uses more of its request',
  placeOf: ({ share }) => -share,
};

const QOS_CLASSES: readonly string[] = ['BestEffort', 'Burstable', 'Guaranteed'];

/** BestEffort, then Burstable, then Guaranteed; a class that is none of them goes first. */
export const qos: RankingKey = {
  name: 'qos',
  says: 'its QoS class is lower',
  placeOf: ({ facts }) => QOS_CLASSES.indexOf(facts.qos),
  range: [-1, QOS_CLASSES.length - 1],
};

/** Who has run for the shortest time, and so loses the least work, goes first; not started is shorter than any. */
export const runTime: RankingKey = {
  name: 'runTime',
  says: 'it has run for a shorter time',
  placeOf: ({ facts }) => -(facts.startedAt ?? Infinity),
};

/** Pods that asked to go last go after all others. */
export const markedLast: RankingKey = {
  name: 'markedLast',
  says: 'the other asked to go last',
  placeOf: ({ isMarkedLast }) => (isMarkedLast ? 1 : 0),
  range: YES_OR_NO,
};

/** A DaemonSet's pod comes straight back to this node, so evicting it gains little. */
export const daemonSetsLast: RankingKey = {
  name: 'daemonSetsLast',
  says: 'the other belongs to a DaemonSet',
  placeOf: ({ facts }) => (facts.isDaemonSetPod ? 1 : 0),
  range: YES_OR_NO,
};

/** Owners that were hit recently are spared when all else is equal. */
export const ownerDisruptedLongestAgo: RankingKey = {
  name: 'ownerDisruptedLongestAgo',
  says: 'its owner was disrupted longer ago',
  placeOf: ({ ownerDisruptedAt }) => ownerDisruptedAt ?? -Infinity,
};

/** A pod without a controller is not created again (D-17). */
export const withControllerFirst: RankingKey = {
  name: 'withControllerFirst',
  says: 'a controller makes it again',
  placeOf: ({ facts }) => (facts.hasController ? 0 : 1),
  range: YES_OR_NO,
};

/** Two pods never share a UID, so this decides whatever is left. */
export const uid: RankingKey = {
  name: 'uid',
  says: 'its UID comes first',
  placeOf: () => 0,
  range: [0, 0],
  refine: (left, right) => compareTexts(left.facts.pod.uid, right.facts.pod.uid),
};

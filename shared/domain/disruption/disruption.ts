import { HOUR_MS } from '#shared/domain/base/durations.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

/*
 * The record of one removed pod. A cluster forgets why a pod was removed after an hour, when its Events expire; people
 * ask later. Every cause has its own word, which no text about another cause uses (S0-1).
 */

/** What removed a pod. */
export const CAUSES = [
  'Preemption',
  'Eviction',
  'KubeletEviction',
  'Rescheduling',
  'Reclaim',
  'Drain',
  'Taint',
  'Deletion',
  'OOMKill',
  'NodeLost',
  'Unknown',
] as const;
export type Cause = (typeof CAUSES)[number];

/** One removal, or several of one owner within seconds. */
export interface Disruption {
  readonly namespace: string;
  /** Name of the object: the same for the same pod, regardless of the replica that writes it. */
  readonly name: string;
  readonly spec: DisruptionSpec;
  readonly outcome: DisruptionOutcome;
}

/** What is known when the record is written; it never changes afterwards. Times are wall time. */
export type DisruptionSpec = RecordedRemoval & MadeRoom;

/** Only a preemption makes room for a pending pod: other causes cannot name one (S0-30). */
export type MadeRoom =
  | { readonly cause: 'Preemption'; readonly madeRoomFor: Preemptor | undefined }
  | { readonly cause: Exclude<Cause, 'Preemption'>; readonly madeRoomFor: undefined };

/** A cause with the pod that room was made for, if that cause has one. */
export function madeRoom(cause: Cause, preemptor: Preemptor | undefined): MadeRoom {
  return cause === 'Preemption' ? { cause, madeRoomFor: preemptor } : { cause, madeRoomFor: undefined };
}

interface RecordedRemoval extends Omit<Verdict, 'cause'> {
  readonly pod: string;
  readonly podUid: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
  readonly priorityClassName: string | undefined;
  /** The rule that gave the class, as recorded on the pod; `undefined` if the pod named its class. */
  readonly classRule: string | undefined;
  readonly priority: number;
  readonly node: string;
  readonly removedAt: Instant;
  /** The ID of the decision, of an eviction by the agent or by the rescheduler. */
  readonly decision: string | undefined;
  /**
   * The limits that it was debited to, and the one that the severe stage exceeded; absent if no limit covers the pod.
   */
  readonly debited: { readonly rules: readonly string[]; readonly overran: string | undefined } | undefined;
  /** The next candidates, for an eviction by the agent. */
  readonly ranked: readonly RecordedCandidate[];
}

/** Why a pod was removed, and by whom if that is certain. */
export interface Verdict {
  readonly cause: Cause;
  readonly requestedBy: string | undefined;
  readonly because: Because;
}

/** The pod that a victim made room for, fixed when the victim was chosen. */
export interface Preemptor {
  readonly uid: string;
  /** Only in the record's own namespace: names of pods in other namespaces are not disclosed. */
  readonly pod: string | undefined;
  readonly priorityClassName: string | undefined;
  readonly priority: number;
  /** The node on which room was set aside for the pod; kube-scheduler may still place the pod elsewhere. */
  readonly nominatedNode: string;
}

/** A candidate of the same decision; `pod` only in the record's own namespace. */
export interface RecordedCandidate {
  readonly pod: string | undefined;
  readonly priority: number | undefined;
  /** The code of the reason for its place in the ranking. */
  readonly code: string;
}

/** The outcome. */
export interface DisruptionOutcome {
  /** More than one if the record represents a storm of removals. */
  readonly count: number;
  /** The other pods that it represents, in the record's own namespace; the first pod is the one in the record. */
  readonly others: readonly OtherPod[];
  readonly goneAt: Instant | undefined;
  /** The first pod of the same owner that was placed afterwards. */
  readonly replacement: { readonly pod: string; readonly node: string } | undefined;
  /** The node on which the pod that needed the room was placed. */
  readonly placedOn: string | undefined;
  /** Until when its node is avoided, if the removal added an avoid entry (S3-28). */
  readonly avoid: { readonly isHard: boolean; readonly until: Instant } | undefined;
}

/** A pod whose removal is part of another record. */
export interface OtherPod {
  readonly pod: string;
  readonly podUid: string;
}

export const NO_OUTCOME: DisruptionOutcome = {
  count: 1,
  others: [],
  goneAt: undefined,
  replacement: undefined,
  placedOn: undefined,
  avoid: undefined,
};

/**
 * A pod whose eviction the API server accepted, as the status of a policy or queue lists it: the record reads its cause
 * there.
 */
export interface EvictedPod {
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  /** The ID of the decision, as the Eviction carried it. */
  readonly decision: string;
  readonly at: Instant;
  readonly because: Because;
}

/** Maximum number of them in a status. */
export const MAX_EVICTED = 50;

/** The fields of a stored record that decide when it is deleted. */
export interface StoredRecord {
  readonly namespace: string;
  readonly name: string;
  readonly createdAt: Instant;
}

/** How long and how many records are kept. */
export interface Retention {
  readonly keepMs: number;
  readonly perNamespace: number;
  readonly total: number;
}

/** Where the DisruptionPolicy does not say it. */
export const DEFAULT_RETENTION: Retention = { keepMs: 7 * 24 * HOUR_MS, perNamespace: 500, total: 20_000 };

/**
 * The records to delete, the oldest first: too old, too many in one namespace, or too many in total. The total limit
 * removes records of the namespaces with the most, so that a tenant with many removals does not displace the records of
 * others.
 */
export function expiredRecords<T extends StoredRecord>(
  records: Iterable<T>,
  { keepMs, perNamespace, total }: Retention,
  now: Instant,
): readonly T[] {
  const newestFirst = [...records].sort((left, right) => right.createdAt - left.createdAt);
  const isOld = ({ createdAt }: T): boolean => now - createdAt >= keepMs;
  const share = fairShare(countsOf(newestFirst.filter((record) => !isOld(record))), perNamespace, total);
  const kept = new Map<string, number>();
  let { spare } = share;
  const expired = newestFirst.filter((record) => {
    const inNamespace = kept.get(record.namespace) ?? 0;
    const isSpare = inNamespace === share.each && inNamespace < perNamespace && spare > 0;
    if (isOld(record) || (inNamespace >= share.each && !isSpare)) return true;
    if (isSpare) spare -= 1;
    kept.set(record.namespace, inNamespace + 1);
    return false;
  });
  return expired.reverse();
}

function countsOf(records: readonly StoredRecord[]): readonly number[] {
  const counts = new Map<string, number>();
  for (const { namespace } of records) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
  return [...counts.values()];
}

/** How many records each namespace may keep, and how many may keep one more. */
function fairShare(counts: readonly number[], perNamespace: number, total: number): Record<'each' | 'spare', number> {
  const wanted = counts.map((count) => Math.min(count, perNamespace)).sort((left, right) => left - right);
  let left = total;
  for (const [index, count] of wanted.entries()) {
    const namespaces = wanted.length - index;
    const each = Math.floor(left / namespaces);
    if (count > each) return { each, spare: left - each * namespaces };
    left -= count;
  }
  return { each: perNamespace, spare: 0 };
}

/** Whether the record is about a pod of that name, alone or among others. */
export function namesPod({ spec, outcome }: Pick<Disruption, 'spec' | 'outcome'>, name: string): boolean {
  return [spec, ...outcome.others].some(({ pod }) => pod === name);
}

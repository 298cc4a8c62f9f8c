import type { Because } from '#shared/domain/model/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';

/*
 * The record of one removed pod. The cluster forgets why a pod went after an hour, when its Events end; the question is
 * asked later. Every cause has a word of its own, which no text about another cause uses (S0-1).
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
  /** Of the object: the same for the same pod, whichever replica writes it. */
  readonly name: string;
  readonly spec: DisruptionSpec;
  readonly outcome: DisruptionOutcome;
}

/** What is known when the record is written; it never changes. Times are wall time. */
export type DisruptionSpec = RecordedRemoval & MadeRoom;

/** Only a preemption makes room for a pending pod: for another cause none can be named (S0-30). */
export type MadeRoom =
  | { readonly cause: 'Preemption'; readonly madeRoomFor: Preemptor | undefined }
  | { readonly cause: Exclude<Cause, 'Preemption'>; readonly madeRoomFor: undefined };

/** A cause with the pod that room was made for, where it can be one. */
export function madeRoom(cause: Cause, preemptor: Preemptor | undefined): MadeRoom {
  return cause === 'Preemption' ? { cause, madeRoomFor: preemptor } : { cause, madeRoomFor: undefined };
}

interface RecordedRemoval extends Omit<Verdict, 'cause'> {
  readonly pod: string;
  readonly podUid: string;
  readonly owner: { readonly kind: string; readonly name: string; readonly uid: string } | undefined;
  readonly priorityClassName: string | undefined;
  /** The rule that gave the class, as it was recorded on the pod; `undefined` where the pod named its class. */
  readonly classRule: string | undefined;
  readonly priority: number;
  readonly node: string;
  readonly removedAt: Instant;
  /** The ID of the decision, of an eviction by the agent or by the rescheduler. */
  readonly decision: string | undefined;
  /** The limits that it was debited to, and the one that the severe stage went beyond; absent where none covers the pod. */
  readonly debited: { readonly rules: readonly string[]; readonly overran: string | undefined } | undefined;
  /** Who would have gone next, of an eviction by the agent. */
  readonly ranked: readonly RecordedCandidate[];
}

/** Why a pod was removed, and by whom where that is certain. */
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
  /** Room on it was set aside for the pod; kube-scheduler may still place it elsewhere. */
  readonly nominatedNode: string;
}

/** A candidate of the same decision; `pod` only in the record's own namespace. */
export interface RecordedCandidate {
  readonly pod: string | undefined;
  readonly priority: number | undefined;
  /** The code of the reason for its place in the ranking. */
  readonly code: string;
}

/** What became of it. */
export interface DisruptionOutcome {
  /** More than one where the record stands for a whole storm of removals. */
  readonly count: number;
  /** The other pods that it stands for, in the record's own namespace; the first one is that of the record. */
  readonly others: readonly OtherPod[];
  readonly goneAt: Instant | undefined;
  /** The first pod of the same owner that was placed afterwards. */
  readonly replacement: { readonly pod: string; readonly node: string } | undefined;
  /** Where the pod that the victim made room for was placed. */
  readonly placedOn: string | undefined;
  /** How long its node is avoided, where the removal added such an entry (S3-28). */
  readonly avoid: { readonly isHard: boolean; readonly until: Instant } | undefined;
}

/** A pod whose removal has no record of its own. */
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

/** A pod whose eviction the API server accepted, as the status of a policy or queue tells of it: the record reads its cause there. */
export interface EvictedPod {
  readonly pod: string;
  readonly uid: string;
  readonly node: string;
  /** The ID of the decision, as the Eviction carried it. */
  readonly decision: string;
  readonly at: Instant;
  readonly because: Because;
}

/** How many of them a status holds. */
export const MAX_EVICTED = 50;

/** A stored record, as far as its end depends on it. */
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

/**
 * The records to delete, the oldest first: too old, too many of one namespace, or too many in all. The last costs those
 * namespaces that have the most, so that a tenant with many removals takes the records of no other away.
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

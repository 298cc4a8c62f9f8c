import { controllerOf, type Instant, type Pod } from '#shared/domain/pod/pod.ts';
import { causeOf, type Evidence, isUnexplained, SETTLE_MS } from './cause.ts';
import {
  type Cause,
  type Disruption,
  type DisruptionOutcome,
  type DisruptionSpec,
  madeRoom,
  NO_OUTCOME,
  type Preemptor,
  type RecordedCandidate,
} from './disruption.ts';
import { isOver } from './storms.ts';

/** A removed pod that is followed until nothing more can be learned about it. Times are wall time. */
export interface Removal {
  readonly pod: RemovedPod;
  readonly evidence: Evidence;
  readonly madeRoomFor: NominatedPreemptor | undefined;
  /** Whether the agent of its node has asked for its eviction and not yet reported the answer. */
  readonly isAsked?: boolean;
  readonly decision: string | undefined;
  readonly debited: DisruptionSpec['debited'];
  readonly ranked: readonly (RecordedCandidate & { readonly namespace: string })[];
  readonly outcome: DisruptionOutcome;
  readonly stage: RecordStage;
  /** When the last of the other pods that the record represents was removed. */
  readonly joinedAt: Instant;
  /** How many of them have been written. */
  readonly named: number;
}

/** What has been written: nothing, or the record. Once the outcome is written, the removal is no longer followed. */
export type RecordStage = 'Observed' | 'Recorded';

/** What a record keeps about the pod. */
export interface RemovedPod extends Omit<
  DisruptionSpec,
  'cause' | 'requestedBy' | 'because' | 'decision' | 'debited' | 'madeRoomFor' | 'ranked'
> {
  readonly namespace: string;
}

/** What a scheduler process knows about a pod that was just removed. */
export interface SeenRemoval {
  readonly pod: Pod;
  readonly node: string;
  /** The rule that its annotation names. */
  readonly classRule?: string | undefined;
  readonly evidence: Evidence;
  readonly at: Instant;
}

/** Begins to follow a pod. A failed pod no longer takes room, so it counts as gone at once. */
export function beginRemoval({ pod, node, classRule, evidence, at }: SeenRemoval, hasFailed: boolean): Removal {
  const controller = controllerOf(pod);
  const { namespace, name, uid, spec } = pod;
  return {
    pod: {
      namespace,
      pod: name,
      podUid: uid,
      owner: controller && { kind: controller.kind, name: controller.name, uid: controller.uid },
      priorityClassName: spec.priorityClassName,
      classRule,
      priority: spec.priority ?? 0,
      node,
      removedAt: at,
    },
    evidence,
    madeRoomFor: undefined,
    decision: undefined,
    debited: undefined,
    ranked: [],
    outcome: { ...NO_OUTCOME, goneAt: hasFailed ? at : undefined },
    stage: 'Observed',
    joinedAt: at,
    named: 0,
  };
}

/** How long to wait, once the pod is gone, for a replacement and for the pod that room was made for. */
const FOLLOW_MS = 5 * 60_000;
/** A pod that does not terminate is no longer followed after this time. */
const MAX_TERMINATION_MS = 60 * 60_000;

/** How long a record waits for its debit, which says who requested the removal; a failed one is retried after 30 s. */
const DEBIT_MS = 40_000;
/** An agent that has asked for the eviction reports the answer later on a node that is short of everything. */
const ASKED_MS = 30_000;

/** What to write about a removal now; `undefined` for nothing. Record and outcome are each written once. */
export function dueWrite(
  removal: Removal,
  now: Instant,
  isDebitPending: boolean,
): 'record' | 'others' | 'outcome' | undefined {
  switch (removal.stage) {
    case 'Observed':
      return isRecordDue(removal, now - removal.pod.removedAt, isDebitPending) ? 'record' : undefined;
    case 'Recorded':
      if (isComplete(removal) || now >= followedUntil(removal)) return 'outcome';
      return hasUnnamed(removal, now) ? 'others' : undefined;
  }
}

function isRecordDue(removal: Removal, ageMs: number, isDebitPending: boolean): boolean {
  const settleMs = removal.isAsked === true ? ASKED_MS : SETTLE_MS;
  return isDebitPending ? ageMs >= DEBIT_MS : isSettled(removal) || ageMs >= settleMs;
}

/** Whether no other component will report more about the cause. */
function isSettled({ evidence, madeRoomFor }: Removal): boolean {
  if (isPreemption({ evidence })) return madeRoomFor !== undefined;
  return !isUnexplained(evidence);
}

/** Their outcome may not be known until an hour later. */
function hasUnnamed({ pod, outcome: { others }, named, joinedAt }: Removal, now: Instant): boolean {
  return others.length > named && isOver({ at: pod.removedAt, lastAt: joinedAt, others: others.length }, now);
}

export function isPreemption({ evidence }: Pick<Removal, 'evidence'>): boolean {
  return evidence.disruptionTarget === 'PreemptionByScheduler';
}

function isComplete({ pod, madeRoomFor, outcome }: Removal): boolean {
  const { goneAt, replacement, placedOn } = outcome;
  if (goneAt === undefined) return false;
  return (
    (pod.owner === undefined || replacement !== undefined) && (madeRoomFor === undefined || placedOn !== undefined)
  );
}

/** The latest time at which something can still be learned about it. */
export function followedUntil({ pod, outcome }: Removal): Instant {
  return outcome.goneAt === undefined ? pod.removedAt + MAX_TERMINATION_MS : outcome.goneAt + FOLLOW_MS;
}

/** The pods of one preemption are removed and nominated within seconds of one another, in either order. */
export const PREEMPTION_MS = 10_000;

/** A pending pod that a scheduler nominated to a node, and when. */
export interface NominatedPreemptor extends Preemptor {
  readonly namespace: string;
  readonly at: Instant;
}

/**
 * The pods that a victim may have made room for: pods of higher priority nominated to its node at about the same time.
 * A pod that takes the room later was not nominated then (S0-32).
 */
export function possiblePreemptors(
  { pod }: Pick<Removal, 'pod'>,
  nominated: readonly NominatedPreemptor[],
): readonly NominatedPreemptor[] {
  return nominated.filter(
    ({ at, priority }) => priority > pod.priority && Math.abs(at - pod.removedAt) <= PREEMPTION_MS,
  );
}

const MAX_NAME_LENGTH = 240;
const UID_LENGTH = 8;

/**
 * The record as written. For pods in other namespaces it gives only the priority: their names are not disclosed to
 * readers of this namespace.
 */
export function disruptionOf(removal: Removal): Disruption {
  const { pod, madeRoomFor, outcome } = removal;
  const { namespace, ...facts } = pod;
  const verdict = causeOf(removal.evidence);
  const { ranked, decision } = OWN_CAUSES.includes(verdict.cause) ? removal : NOT_DECIDED;
  return {
    namespace,
    name: nameOf(pod),
    spec: {
      ...facts,
      ...verdict,
      decision,
      debited: removal.debited,
      ...madeRoom(verdict.cause, madeRoomFor && preemptorSeenFrom(namespace, madeRoomFor)),
      ranked: ranked.map(({ priority, code, ...other }) => ({ pod: nameSeenFrom(namespace, other), priority, code })),
    },
    outcome,
  };
}

/** A report about a pod that something else removed is left out. */
const OWN_CAUSES: readonly Cause[] = ['Eviction', 'Rescheduling', 'Reclaim'];
const NOT_DECIDED: Pick<Removal, 'ranked' | 'decision'> = { ranked: [], decision: undefined };

/** The same for one pod, regardless of the replica that writes it; a truncated name must not end in a dot. */
function nameOf({ pod, podUid }: RemovedPod): string {
  return `${pod.slice(0, MAX_NAME_LENGTH).replace(/[^a-z0-9]+$/, '')}.${podUid.slice(0, UID_LENGTH)}`;
}

function preemptorSeenFrom(own: string, preemptor: NominatedPreemptor): Preemptor {
  const { uid, priorityClassName, priority, nominatedNode } = preemptor;
  return { uid, pod: nameSeenFrom(own, preemptor), priorityClassName, priority, nominatedNode };
}

/** Names of pods in other namespaces are not disclosed. */
function nameSeenFrom(
  own: string,
  { namespace, pod }: { readonly namespace: string; readonly pod: string | undefined },
): string | undefined {
  return namespace === own ? pod : undefined;
}

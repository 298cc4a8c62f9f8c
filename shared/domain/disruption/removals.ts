import { putBounded } from '#shared/domain/base/memoize.ts';
import type { Because } from '#shared/domain/base/because.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Debit } from './account.ts';
import type { DisruptionOutcome } from './disruption.ts';
import { type PendingDebit, PendingDebits } from './pending-debits.ts';
import {
  beginRemoval,
  dueWrite,
  followedUntil,
  isPreemption,
  type NominatedPreemptor,
  possiblePreemptors,
  PREEMPTION_MS,
  type Removal,
  type SeenRemoval,
} from './removal.ts';
import { Storms } from './storms.ts';

/** What to write about one removal. */
export interface DueWrite {
  readonly uid: string;
  readonly removal: Removal;
  /** `others`: the names of the other pods that the record represents, before the outcome is known. */
  readonly write: 'record' | 'others' | 'outcome';
}

/** A pod that has just been placed on a node. */
export interface NewlyPlaced {
  readonly uid: string;
  readonly name: string;
  readonly node: string;
  /** UID of its controller. */
  readonly owner: string | undefined;
}

/** What the agent of a node, the rescheduler or the leader of the queues reports about a pod that it evicted. */
export interface ReportedEviction extends Pick<Removal, 'ranked' | 'decision'> {
  readonly by: 'agent' | 'rescheduler' | 'queues';
  readonly uid: string;
  readonly node: string;
  readonly because: Because;
  /** Whether the answer to its request is not reported yet. */
  readonly isOpen?: boolean;
}

/** Beyond this, the oldest are no longer followed. */
const MAX_FOLLOWED = 20_000;
const MAX_NOMINATED = 10_000;
const MAX_REPORTED = 10_000;
/** Lets a new leader find what the former one did not write. */
const KEPT_AFTER_MS = 60_000;

/**
 * The removals that a process follows. Every replica follows all of them, so that another one can continue where the
 * leader stopped. Changed in place, because each change concerns one of thousands; nothing here reads a clock.
 */
export class Removals {
  readonly #removals = new Map<string, Removal>();
  /** Removals that lack a replacement, by the UID of their owner, the oldest first. */
  readonly #unreplaced = new Map<string, Set<string>>();
  /** Removals by the UID of the pod that they made room for. */
  readonly #preemptions = new Map<string, Set<string>>();
  /** By UID and node. */
  readonly #nominated = new Map<string, NominatedPreemptor>();
  /** Where recently nominated pods were placed, by UID: the placement can be observed before the nomination. */
  readonly #placed = new Map<string, string>();
  /** UIDs of preemptors by victim, as Events name them. */
  readonly #named = new Map<string, string>();
  /** By victim. A report can come before its pod is seen to terminate, as an Event can. */
  readonly #reported = new Map<string, ReportedEviction>();
  readonly #storms = new Storms();
  /** UIDs of pods whose outcome was written: a failed pod is observed again when it is deleted. */
  readonly #ended = new Map<string, true>();
  /** The removals still to debit. */
  readonly debits = new PendingDebits();

  get size(): number {
    return this.#removals.size;
  }

  has(uid: string): boolean {
    return this.#removals.has(uid);
  }

  /** A pod has begun to terminate, has failed, or is gone. The first observation counts. */
  begin(seen: SeenRemoval, hasFailed = false): void {
    const removal = beginRemoval(seen, hasFailed);
    const { podUid, owner } = removal.pod;
    if ([this.#removals, this.#ended].some((known) => known.has(podUid)) || this.#storms.of(podUid) !== undefined)
      return;
    this.debits.see(seen);
    const storm = this.#storms.join(removal, (uid) => this.#removals.has(uid));
    if (storm !== undefined) {
      this.#join(storm, removal.pod);
      return;
    }
    this.#put(podUid, removal);
    if (owner !== undefined) addTo(this.#unreplaced, owner.uid, podUid);
    this.#attribute(podUid, this.#named.get(podUid));
    this.#adoptReport(podUid);
  }

  /** An agent is trusted only about pods of its own node. */
  reportEviction(eviction: ReportedEviction): void {
    if (this.#reported.get(eviction.uid)?.isOpen !== false)
      putBounded(this.#reported, MAX_REPORTED, [eviction.uid, { isOpen: false, ...eviction }]);
    this.#adoptReport(eviction.uid);
  }

  /** A scheduler has nominated a pending pod to a node. */
  nominate(pod: NominatedPreemptor): void {
    putBounded(this.#nominated, MAX_NOMINATED, [`${pod.uid} ${pod.nominatedNode}`, pod]);
    for (const [victim, named] of this.#named) if (named === pod.uid) this.#attribute(victim, named);
  }

  /**
   * An Event of a scheduler names the pod that a victim made room for. Other clients can write such an Event, so it
   * only selects among the possible pods.
   */
  namePreemptor(victim: string, preemptor: string): void {
    putBounded(this.#named, MAX_REPORTED, [victim, preemptor]);
    this.#attribute(victim, preemptor);
  }

  /** The pod object is gone. */
  gone(uid: string, at: Instant): void {
    const key = this.#storms.of(uid) ?? uid;
    this.#update(key, ({ goneAt }) => ({ goneAt: key === uid ? (goneAt ?? at) : at }));
  }

  /** A pod has been placed: as the replacement of an older pod of its owner, or where room was made for it. */
  place({ uid, name, node, owner }: NewlyPlaced): void {
    putBounded(this.#placed, MAX_NOMINATED, [uid, node]);
    for (const victim of this.#preemptions.get(uid) ?? []) this.#update(victim, () => ({ placedOn: node }));
    this.#preemptions.delete(uid);
    const [replaced] = (owner !== undefined && this.#unreplaced.get(owner)) || [];
    if (replaced === undefined || owner === undefined) return;
    removeFrom(this.#unreplaced, owner, replaced);
    this.#update(replaced, () => ({ replacement: { pod: name, node } }));
  }

  /**
   * What to write now, the oldest first; namespaces take turns, so that one with very many removals does not delay the
   * others.
   */
  due(now: Instant, most: number): readonly DueWrite[] {
    const due = [...this.#removals].flatMap(([uid, removal]) => {
      const write = dueWrite(removal, now, this.debits.has(uid));
      return write === undefined ? [] : [{ uid, removal, write }];
    });
    return inTurn(due, ({ removal }) => removal.pod.namespace, most).map(({ uid, write }) => {
      if (write === 'record') this.#attributeLast(uid);
      return { uid, removal: this.#removals.get(uid) as Removal, write };
    });
  }

  /** What to debit now. */
  dueDebits(
    now: Instant,
    limited: Pick<Parameters<PendingDebits['due']>[1], 'most' | 'left'>,
  ): readonly PendingDebit[] {
    return this.debits.due(now, { ...limited, evidenceOf: (uid) => this.#removals.get(uid)?.evidence });
  }

  /** What the account says about a removal: who requested it, and the limits that it was debited to. */
  adoptDebit({ uid, caller, rules, overran }: Debit): void {
    const removal = this.#removals.get(uid);
    if (removal?.stage !== 'Observed') return;
    this.#put(uid, { ...removal, evidence: { ...removal.evidence, caller }, debited: { rules, overran } });
  }

  /** Start of the removal that has been waiting longest to be recorded. */
  unrecordedSince(): Instant | undefined {
    for (const { stage, pod, outcome, named } of this.#removals.values())
      if (stage === 'Observed' || outcome.others.length > named) return pod.removedAt;
    return undefined;
  }

  /**
   * Notes what has been written about a removal, by this process or another; `named` is how many other pods were named
   * in it. A removal that more pods have joined meanwhile is still followed.
   */
  written(uid: string, write: DueWrite['write'], named = 0): void {
    const removal = this.#removals.get(uid);
    if (removal === undefined) return;
    if (write === 'outcome' && removal.outcome.others.length <= named) this.#end(uid, removal);
    else if (write !== 'record') this.#put(uid, { ...removal, named });
    else if (removal.stage === 'Observed') this.#put(uid, { ...removal, stage: 'Recorded' });
  }

  /**
   * Drops what is no longer followed. A replica that does not lead writes nothing and would otherwise keep everything.
   */
  prune(now: Instant): void {
    for (const [uid, removal] of this.#removals) {
      if (now > followedUntil(removal) + KEPT_AFTER_MS) this.#forget(uid, removal);
    }
    for (const [key, { at }] of this.#nominated) {
      if (now - at <= 2 * PREEMPTION_MS) break;
      this.#nominated.delete(key);
    }
    this.#storms.prune(now);
    this.debits.prune(now);
  }

  #join(storm: string, { pod, podUid, removedAt }: Removal['pod']): void {
    const removal = this.#removals.get(storm);
    if (removal === undefined) return;
    const { outcome } = removal;
    const others = [...outcome.others, { pod, podUid }];
    this.#put(storm, {
      ...removal,
      joinedAt: removedAt,
      outcome: { ...outcome, others, count: others.length + 1, goneAt: undefined },
    });
  }

  #adoptReport(uid: string): void {
    const removal = this.#removals.get(uid);
    const eviction = this.#reported.get(uid);
    if (removal?.stage !== 'Observed' || eviction?.node !== removal.pod.node) return;
    const { by, because, ranked, decision, isOpen } = eviction;
    if (isOpen === true) {
      this.#put(uid, { ...removal, isAsked: true });
      return;
    }
    this.#put(uid, { ...removal, evidence: { ...removal.evidence, [by]: because }, ranked, decision });
  }

  #attribute(victim: string, named: string | undefined): void {
    if (named === undefined) return;
    this.#settle(victim, (possible) => possible.find(({ uid }) => uid === named));
  }

  /** Without such an Event the preemptor is certain only if there was a single candidate. */
  #attributeLast(victim: string): void {
    this.#settle(victim, (possible) => (possible.length === 1 ? possible[0] : undefined));
  }

  #settle(victim: string, choose: (possible: readonly NominatedPreemptor[]) => NominatedPreemptor | undefined): void {
    const removal = this.#removals.get(victim);
    if (removal?.stage !== 'Observed' || removal.madeRoomFor !== undefined || !isPreemption(removal)) return;
    const onNode = [...this.#nominated.values()].filter(({ nominatedNode }) => nominatedNode === removal.pod.node);
    const madeRoomFor = choose(possiblePreemptors(removal, onNode));
    if (madeRoomFor === undefined) return;
    const placedOn = this.#placed.get(madeRoomFor.uid);
    this.#put(victim, { ...removal, madeRoomFor, outcome: { ...removal.outcome, placedOn } });
    if (placedOn === undefined) addTo(this.#preemptions, madeRoomFor.uid, victim);
  }

  #update(uid: string, change: (outcome: DisruptionOutcome) => Partial<DisruptionOutcome>): void {
    const removal = this.#removals.get(uid);
    if (removal === undefined) return;
    this.#put(uid, { ...removal, outcome: { ...removal.outcome, ...change(removal.outcome) } });
  }

  /** A changed removal keeps its position: the oldest come first. */
  #put(uid: string, removal: Removal): void {
    this.#removals.set(uid, removal);
    if (this.#removals.size <= MAX_FOLLOWED) return;
    const [oldest] = this.#removals;
    this.#forget(...(oldest as [string, Removal]));
  }

  #end(uid: string, removal: Removal): void {
    putBounded(this.#ended, MAX_FOLLOWED, [uid, true]);
    this.#forget(uid, removal);
  }

  #forget(uid: string, { pod, madeRoomFor }: Removal): void {
    this.#removals.delete(uid);
    this.#named.delete(uid);
    this.#reported.delete(uid);
    if (pod.owner !== undefined) removeFrom(this.#unreplaced, pod.owner.uid, uid);
    if (madeRoomFor !== undefined) removeFrom(this.#preemptions, madeRoomFor.uid, uid);
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  if (set === undefined) sets.set(key, new Set([value]));
  else set.add(value);
}

function removeFrom(sets: Map<string, Set<string>>, key: string, value: string): void {
  const set = sets.get(key);
  set?.delete(value);
  if (set?.size === 0) sets.delete(key);
}

/** At most so many items, groups taking turns; within a group in the given order. */
function inTurn<T>(items: readonly T[], groupOf: (item: T) => string, most: number): readonly T[] {
  if (items.length <= most) return items;
  const groups = [...Map.groupBy(items, groupOf).values()];
  const taken: T[] = [];
  for (let round = 0; taken.length < most; round += 1)
    taken.push(...groups.flatMap((group) => group.slice(round, round + 1)));
  return taken.slice(0, most);
}

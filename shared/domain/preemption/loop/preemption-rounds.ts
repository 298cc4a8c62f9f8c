import { type OwnerKey, ownerText, controllerOf } from '#shared/domain/pod/pod-owner.ts';
import { type Instant, type Pod, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/model/because.ts';

/** A pod that a scheduler preempted, and the pod that it made room for. */
export interface Displacement {
  readonly at: Instant;
  readonly node: string;
  readonly preemptor: Contender;
  /** Of the preemptor. */
  readonly priority: number;
  readonly victim: Contender;
}

/** A pod as one side of a preemption. */
interface Contender {
  readonly uid: string;
  /** Owner of the pod, or the pod itself. */
  readonly party: string;
}

/**
 * What recreates a pod: its controller as `namespace/Kind/name/uid`, or, where it has none, the pod by its name. Another
 * controller of the same name is another party.
 */
export function contenderOf(pod: Pod): Contender {
  const { namespace, name, uid } = pod;
  const owner = controllerOf(pod) ?? { kind: 'Pod', name, uid: undefined };
  return { uid, party: partyOf({ ...owner, namespace }) };
}

/** An owner as a side of a preemption. */
export function partyOf(owner: OwnerKey): string {
  return (owner.uid ?? '') === '' ? ownerText(owner) : `${ownerText(owner)}/${owner.uid}`;
}

/** The owner that a side is. */
export function ownerKeyOf(party: string): OwnerKey {
  const [namespace = '', kind = '', name = '', ...uid] = party.split('/');
  return { namespace, kind, name, uid: uid.length === 0 ? undefined : uid.join('/') };
}

/** A preempted pod whose preemptor is not known yet. */
export interface PreemptedPod {
  readonly pod: Pod;
  readonly node: string;
  readonly priority: number;
  readonly at: Instant;
}

/** A pending pod that a scheduler nominated to a node. */
export interface NominatedPod {
  readonly pod: Pod;
  readonly priority: number;
}

/** Victims that wait for their preemptor, and those for which it was found. */
interface Attribution {
  readonly waiting: readonly PreemptedPod[];
  readonly found: readonly Displacement[];
}

/** kube-scheduler deletes victims and nominates the preemptor at the same time, so either can be seen first. */
const NOMINATED_WITHIN_MS = 10_000;
const MAX_WAITING = 1_000;

/**
 * Finds the preemptor of each victim: the pod of higher priority that was nominated to its node last. A victim names its
 * scheduler only, so of several nominated pods the wrong one may be chosen. A victim without one is given up after ten
 * seconds.
 */
export function attributeVictims(
  victims: readonly PreemptedPod[],
  nominatedTo: (node: string) => readonly NominatedPod[],
  now: Instant,
): Attribution {
  const recent = victims.filter(({ at }) => Math.abs(now - at) <= NOMINATED_WITHIN_MS);
  const judged = recent.map((victim) => ({ victim, displacement: displacementOf(victim, nominatedTo(victim.node)) }));
  return {
    waiting: judged
      .flatMap(({ victim, displacement }) => (displacement === undefined ? [victim] : []))
      .slice(-MAX_WAITING),
    found: judged.flatMap(({ displacement }) => displacement ?? []),
  };
}

function displacementOf(victim: PreemptedPod, nominated: readonly NominatedPod[]): Displacement | undefined {
  const preemptor = nominated.findLast(({ priority }) => priority > victim.priority);
  if (preemptor === undefined) return undefined;
  const { pod, node, at } = victim;
  return { at, node, preemptor: contenderOf(preemptor.pod), priority: preemptor.priority, victim: contenderOf(pod) };
}

/** When two parties that displace each other count as a loop. */
export interface LoopPolicy {
  /** Rounds within the window that are allowed; the next one continues a loop. */
  readonly rounds: number;
  readonly windowMs: number;
}

/** One turn of a pair: a party displaced pods of the other. Its time is that of the last of these pods. */
export interface Round {
  readonly at: Instant;
  readonly node: string;
  readonly by: string;
  readonly preemptorUid: string;
  /** The highest of the pods that displaced in it. */
  readonly priority: number;
}

/** Rounds by pair of parties, in the order of the latest one; of each pair no more than the policy allows. */
export type PreemptionRounds = ReadonlyMap<string, readonly Round[]>;

export const NO_ROUNDS: PreemptionRounds = new Map();

const MAX_PAIRS = 1_000;
/** Several victims of one preemption are one round: none of them came back. */
const ONE_ROUND_MS = 30_000;

/**
 * The rounds with one more displacement. A round begins when the other party displaces, or when a pod has to make room on
 * the same node again, because the room it had made was taken. Several pods of one party that displace one after the other
 * are one round: a Deployment that grows is no loop. What has left the window is dropped, and of too many pairs those whose
 * last round is the oldest. Mechanism S0-21.
 */
export function addDisplacement(
  rounds: PreemptionRounds,
  displaced: Displacement,
  policy: LoopPolicy,
): PreemptionRounds {
  const { preemptor, priority, victim, at, node } = displaced;
  const lasting = dropEnded(rounds, at - policy.windowMs);
  if (preemptor.party === victim.party) return lasting;
  const pair = pairOf(preemptor.party, victim.party);
  const before = lasting.get(pair) ?? [];
  const round = { at, node, by: preemptor.party, preemptorUid: preemptor.uid, priority };
  const entries = Array.from(lasting).filter(([key]) => key !== pair);
  return new Map([...entries, [pair, withRound(before, round).slice(-policy.rounds)] as const].slice(-MAX_PAIRS));
}

function withRound(before: readonly Round[], round: Round): readonly Round[] {
  const last = before.at(-1);
  if (last === undefined || isNewRound(last, round)) return [...before, round];
  return [...before.slice(0, -1), { ...round, priority: Math.max(last.priority, round.priority) }];
}

function isNewRound(last: Round, round: Round): boolean {
  if (last.by !== round.by) return true;
  const isSamePlace = last.preemptorUid === round.preemptorUid && last.node === round.node;
  return isSamePlace && round.at - last.at > ONE_ROUND_MS;
}

function dropEnded(rounds: PreemptionRounds, endedBy: Instant): PreemptionRounds {
  const lasting = Array.from(rounds, ([pair, own]) => [pair, own.filter(({ at }) => at > endedBy)] as const);
  return new Map(lasting.filter(([, own]) => own.length > 0));
}

/** The key of two parties, whichever is named first. */
export function pairOf(left: string, right: string): string {
  return JSON.stringify(left < right ? [left, right] : [right, left]);
}

/** The two parties of a pair. */
export function partiesOf(pair: string): readonly string[] {
  return JSON.parse(pair) as readonly string[];
}

/** The two sides of a preemption: owners, or pods without one. */
export interface Sides {
  readonly preemptor: string;
  readonly victim: string;
}

/**
 * Why a preemption would continue a loop: the two parties have had all rounds that the policy allows within its window, in
 * whichever direction. `undefined` where it would not.
 */
export function loopBetween(
  rounds: PreemptionRounds,
  { preemptor, victim }: Sides,
  policy: LoopPolicy,
  now: Instant,
): Because | undefined {
  const recent = recentRounds(rounds.get(pairOf(preemptor, victim)) ?? [], policy, now);
  const last = recent.at(-1);
  if (last === undefined || !isInForce(recent, policy)) return undefined;
  return whyLoop({ preemptor, victim }, { node: last.node, count: recent.length, windowMs: policy.windowMs });
}

/** Whether rounds within the window are as many as the policy allows. */
export function isInForce(recent: readonly Round[], policy: LoopPolicy): boolean {
  return recent.length >= policy.rounds;
}

/** Who is in a loop, and until when any loop lasts: most questions end here, without a look at the rounds. */
export interface LoopingParties {
  readonly parties: ReadonlySet<string>;
  readonly until: Instant;
}

/** The parties that have had all rounds that the policy allows; the loop of a pair lasts until its first one has left. */
export function loopingParties(rounds: PreemptionRounds, policy: LoopPolicy): LoopingParties {
  const full = Array.from(rounds).filter(([, own]) => own.length >= policy.rounds);
  return {
    parties: new Set(full.flatMap(([pair]) => partiesOf(pair))),
    until: Math.max(-Infinity, ...full.map(([, [first]]) => (first?.at ?? -Infinity) + policy.windowMs)),
  };
}

/** The rounds within the window that ends now. One in the future does not count: the clock was set back, or it was made up. */
export function recentRounds(rounds: readonly Round[], { windowMs }: LoopPolicy, now: Instant): readonly Round[] {
  return rounds.filter(({ at }) => at > now - windowMs && at <= now + MAX_SKEW_MS);
}

interface Counted {
  /** Of the latest round. */
  readonly node: string;
  readonly count: number;
  readonly windowMs: number;
}

/** The loop of two parties in words. */
export function whyLoop(sides: Sides, { node, count, windowMs }: Counted): Because {
  const [preemptor, victim] = [ownerText(ownerKeyOf(sides.preemptor)), ownerText(ownerKeyOf(sides.victim))];
  const often = `${count} times within ${Math.round(windowMs / 60_000)} min`;
  const text = `pods of ${preemptor} and ${victim} displace each other: ${often}, last on node ${node}`;
  return { code: 'PreemptionLoop', text, facts: { preemptor, victim, rounds: count, node } };
}

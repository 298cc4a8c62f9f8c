import { type OwnerKey, ownerText, controllerOf, type Instant, type Pod, MAX_SKEW_MS } from '#shared/domain/pod/pod.ts';
import type { Because } from '#shared/domain/base/because.ts';

/** A pod that a scheduler preempted, and the pod that it made room for. */
export interface Displacement {
  readonly at: Instant;
  readonly node: string;
  readonly preemptor: RoundSide;
  /** Of the preemptor. */
  readonly priority: number;
  readonly victim: RoundSide;
  readonly victimCreatedAt?: Instant | undefined;
}

/** A pod as one side of a preemption. */
interface RoundSide {
  readonly uid: string;
  /** The owner of the pod, or the pod itself. */
  readonly party: string;
}

/**
 * What recreates a pod: its controller as `namespace/Kind/name/uid`, or, where it has none, the pod by its name. A
 * different controller with the same name is a different party.
 */
export function contenderOf(pod: Pod): RoundSide {
  const { namespace, name, uid } = pod;
  const owner = controllerOf(pod) ?? { kind: 'Pod', name, uid: undefined };
  return { uid, party: partyOf({ ...owner, namespace }) };
}

/** An owner as a side of a preemption. */
export function partyOf(owner: OwnerKey): string {
  return (owner.uid ?? '') === '' ? ownerText(owner) : `${ownerText(owner)}/${owner.uid}`;
}

/** The owner of a side. */
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

/** Victims whose preemptor is still unknown, and those for which it was found. */
interface Attribution {
  readonly waiting: readonly PreemptedPod[];
  readonly found: readonly Displacement[];
}

/** kube-scheduler deletes victims and nominates the preemptor at the same time, so either can be observed first. */
const NOMINATED_WITHIN_MS = 10_000;
const MAX_WAITING = 1_000;

/**
 * Finds the preemptor of each victim: the pod of higher priority that was nominated to its node last. A victim names
 * only its scheduler, so the wrong pod may be chosen among several nominated ones. After ten seconds a victim without a
 * preemptor is dropped.
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
  const sides = { preemptor: contenderOf(preemptor.pod), victim: contenderOf(pod) };
  return { at, node, ...sides, priority: preemptor.priority, victimCreatedAt: pod.createdAt };
}

/** When two parties that displace each other count as a loop. */
export interface LoopPolicy {
  /** Rounds within the window that are allowed; the next one continues a loop. */
  readonly rounds: number;
  readonly windowMs: number;
}

/** One round of a pair: a party displaced pods of the other. Its time is that of the last of these pods. */
export interface PreemptionRound {
  readonly at: Instant;
  readonly node: string;
  readonly by: string;
  readonly preemptorUid: string;
  /** The highest priority of the preemptors in it. */
  readonly priority: number;
}

/** Rounds by pair of parties, ordered by the latest round; per pair no more than the policy allows. */
export type PreemptionRounds = ReadonlyMap<string, readonly PreemptionRound[]>;

export const NO_ROUNDS: PreemptionRounds = new Map();

const MAX_PAIRS = 1_000;
/** Several victims of one preemption count as one round, unless one of them was created since. */
const ONE_ROUND_MS = 30_000;

/**
 * The rounds with one more displacement. A new round begins when the other party displaces, or when a pod has to make
 * room on the same node again because the room was taken. Consecutive displacements by one party are one round: a
 * growing Deployment is not a loop. Rounds that have left the window are dropped; if there are too many pairs, those
 * with the oldest last round are dropped too. Mechanism S0-21.
 */
export function addDisplacement(
  rounds: PreemptionRounds,
  displaced: Displacement,
  policy: LoopPolicy,
): PreemptionRounds {
  const { preemptor, priority, victim, victimCreatedAt, at, node } = displaced;
  const lasting = dropEnded(rounds, at - policy.windowMs);
  if (preemptor.party === victim.party) return lasting;
  const pair = pairOf(preemptor.party, victim.party);
  const before = lasting.get(pair) ?? [];
  const round = { at, node, by: preemptor.party, preemptorUid: preemptor.uid, priority };
  const entries = Array.from(lasting).filter(([key]) => key !== pair);
  return new Map(
    [...entries, [pair, withRound(before, round, victimCreatedAt).slice(-policy.rounds)] as const].slice(-MAX_PAIRS),
  );
}

function withRound(
  before: readonly PreemptionRound[],
  round: PreemptionRound,
  victimCreatedAt: Instant = -Infinity,
): readonly PreemptionRound[] {
  const last = before.at(-1);
  if (last === undefined || isNewRound(last, round, victimCreatedAt)) return [...before, round];
  return [...before.slice(0, -1), { ...round, priority: Math.max(last.priority, round.priority) }];
}

function isNewRound(last: PreemptionRound, round: PreemptionRound, victimCreatedAt: Instant): boolean {
  if (last.by !== round.by) return true;
  const isSamePlace = last.preemptorUid === round.preemptorUid && last.node === round.node;
  return isSamePlace && (round.at - last.at > ONE_ROUND_MS || victimCreatedAt > last.at);
}

function dropEnded(rounds: PreemptionRounds, endedBy: Instant): PreemptionRounds {
  const lasting = Array.from(rounds, ([pair, own]) => [pair, own.filter(({ at }) => at > endedBy)] as const);
  return new Map(lasting.filter(([, own]) => own.length > 0));
}

/** The key of two parties, in either order. */
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
 * Why a preemption would continue a loop: the two parties have had all rounds that the policy allows within its window,
 * in either direction. `undefined` if it would not.
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

/** Whether the rounds within the window have reached the number that the policy allows. */
export function isInForce(recent: readonly PreemptionRound[], policy: LoopPolicy): boolean {
  return recent.length >= policy.rounds;
}

/**
 * The parties in a loop, and the latest end of any loop: most questions are answered here, without examining the
 * rounds.
 */
export interface LoopingParties {
  readonly parties: ReadonlySet<string>;
  readonly until: Instant;
}

/**
 * The parties that have had all rounds that the policy allows; the loop of a pair lasts until its first round leaves
 * the window.
 */
export function loopingParties(rounds: PreemptionRounds, policy: LoopPolicy): LoopingParties {
  const full = Array.from(rounds).filter(([, own]) => own.length >= policy.rounds);
  return {
    parties: new Set(full.flatMap(([pair]) => partiesOf(pair))),
    until: Math.max(-Infinity, ...full.map(([, [first]]) => (first?.at ?? -Infinity) + policy.windowMs)),
  };
}

/**
 * The rounds within the window that ends now. A round in the future does not count: the clock was set back, or the
 * round was forged.
 */
export function recentRounds(
  rounds: readonly PreemptionRound[],
  { windowMs }: LoopPolicy,
  now: Instant,
): readonly PreemptionRound[] {
  return rounds.filter(({ at }) => at > now - windowMs && at <= now + MAX_SKEW_MS);
}

interface LoopCount {
  /** Node of the latest round. */
  readonly node: string;
  readonly count: number;
  readonly windowMs: number;
}

/** The loop of two parties in words. */
export function whyLoop(sides: Sides, { node, count, windowMs }: LoopCount): Because {
  const [preemptor, victim] = [ownerText(ownerKeyOf(sides.preemptor)), ownerText(ownerKeyOf(sides.victim))];
  const often = `${count} times within ${Math.round(windowMs / 60_000)} min`;
  const text = `pods of ${preemptor} and ${victim} displace each other: ${often}, last on node ${node}`;
  return { code: 'PreemptionLoop', text, facts: { preemptor, victim, rounds: count, node } };
}

import type { Because } from '#shared/domain/model/because.ts';
import { MOST_SKEW_MS } from '#shared/domain/model/clock-skew.ts';
import { ownerText } from '#shared/domain/pod/owner-key.ts';
import type { Instant } from '#shared/domain/pod/pod.ts';
import {
  type LoopPolicy,
  ownerKeyOf,
  pairOf,
  partiesOf,
  type PreemptionRounds,
  type Round,
} from './preemption-rounds.ts';

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
  return rounds.filter(({ at }) => at > now - windowMs && at <= now + MOST_SKEW_MS);
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

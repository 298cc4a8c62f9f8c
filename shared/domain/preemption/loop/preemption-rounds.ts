import type { Instant } from '#shared/domain/pod/pod.ts';
import type { Displacement } from './displacement.ts';

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

const MOST_PAIRS = 1_000;
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
  return new Map([...entries, [pair, withRound(before, round).slice(-policy.rounds)] as const].slice(-MOST_PAIRS));
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

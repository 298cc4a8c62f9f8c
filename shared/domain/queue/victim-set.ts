import { amountAt, larger, minus, plus, times, type Whole } from '#shared/domain/quantity/whole.ts';
import type { RunningPod } from './queue-pod.ts';

/** A pod that may be evicted, as numbers. Candidates with the same profile give and cost the same. */
export interface VictimCandidate {
  readonly pod: RunningPod;
  readonly profile: Profile;
}

export interface Profile {
  /** How much its eviction frees for each need. */
  readonly gives: readonly Whole[];
  /** How much its eviction takes from the reserves: number of the reserve and amount. */
  readonly costs: readonly (readonly [number, Whole])[];
}

/** The search on one node. */
export interface VictimSearch {
  /** Candidates in the order of eviction. */
  readonly candidates: readonly VictimCandidate[];
  /** What must be freed; 0 or less if there is enough. */
  readonly needs: readonly Whole[];
  /** What queues use above their guarantees; none may become negative. */
  readonly reserves: readonly Whole[];
  /** How many more pods each budget allows to evict. */
  readonly budgets: ReadonlyMap<string, number>;
  /** Larger sets are ignored. */
  readonly maxSize: number;
  /** The final check of a set that is enough by the numbers. */
  accepts(victims: readonly RunningPod[]): boolean;
  /** Spent by the search, and shared by those of one decision. */
  readonly work: SearchWork;
  /** Whether pods with the same profile are interchangeable for `accepts`. */
  readonly areProfilesEqual: boolean;
}

/** How many steps all searches together may still take; at 0 each search takes the first set that it finds. */
export interface SearchWork {
  stepsLeft: number;
}

interface PartialVictimSet {
  readonly search: VictimSearch;
  readonly taken: RunningPod[];
  readonly left: Whole[];
  readonly reserves: Whole[];
  readonly budgets: Map<string, number>;
  /** By candidate and need: the most that one of the candidates up to there gives. */
  readonly most: readonly (readonly Whole[])[];
  /** How many candidates before each are its twins. */
  readonly twins: readonly number[];
  stepsLeft: number;
}

/** The work limit for one node. Beyond it the set is found by putting pods back, and may not be a smallest one. */
const MAX_STEPS = 5_000;
/** The work limit for a node when that of the decision is used up. */
const MIN_STEPS = 100;
/** Checking whether a pod fits takes longer than a step. */
const STEPS_OF_QUESTION = 20;
/** More than rounding errors of some thousand sums. */
const PRECISION = 1e-9;

/**
 * A smallest set of candidates that is enough, or nothing. If there are several, the one whose last candidate comes
 * earliest in the order, then its second to last, and so on: a candidate late in the order is chosen only if no other
 * is enough.
 */
export function smallestSet(search: VictimSearch): readonly RunningPod[] | undefined {
  const { candidates, maxSize } = search;
  const attempt = startAttempt(search);
  const before = attempt.stepsLeft;
  const least = leastSize(candidates, search.needs);
  let found: readonly RunningPod[] | undefined;
  for (let size = least; size <= Math.min(maxSize, candidates.length) && found === undefined; size += 1) {
    if (choose(attempt, candidates.length, size)) found = [...attempt.taken];
    else if (attempt.stepsLeft <= 0) break;
  }
  search.work.stepsLeft -= before - attempt.stepsLeft;
  return found ?? (attempt.stepsLeft <= 0 ? reducedSet(search) : undefined);
}

function startAttempt(search: VictimSearch): PartialVictimSet {
  const { candidates, needs, reserves, budgets } = search;
  const most: (readonly Whole[])[] = [];
  const seen = new Map<Profile, number>();
  const twins: number[] = [];
  let sofar: readonly Whole[] = needs.map(() => 0);
  for (const { profile } of candidates) {
    sofar = largerOf(sofar, profile.gives);
    most.push(sofar);
    const count = seen.get(profile) ?? 0;
    twins.push(search.areProfilesEqual ? count : 0);
    seen.set(profile, count + 1);
  }
  return {
    search,
    taken: [],
    left: [...needs],
    reserves: [...reserves],
    budgets: new Map(budgets),
    most,
    twins,
    stepsLeft: Math.max(MIN_STEPS, Math.min(MAX_STEPS, search.work.stepsLeft)),
  };
}

/** The larger of each pair; the same list if that is the first. */
function largerOf(a: readonly Whole[], b: readonly Whole[]): readonly Whole[] {
  for (let index = 0; index < a.length; index += 1) {
    if (amountAt(b, index) > amountAt(a, index)) return a.map((amount, at) => larger(amount, amountAt(b, at)));
  }
  return a;
}

/** Fewer candidates than this are not enough; `Infinity` if all of them are not. In doubles, rounded down. */
export function leastSize(candidates: readonly VictimCandidate[], needs: readonly Whole[]): number {
  let least = 1;
  for (let need = 0; need < needs.length; need += 1) {
    const wanted = Number(needs[need]) * (1 - PRECISION);
    let sum = 0;
    let most = 0;
    for (const { profile } of candidates) {
      const amount = Number(profile.gives[need]);
      sum += amount;
      if (amount > most) most = amount;
    }
    if (sum < wanted) return Infinity;
    if (wanted > 0) least = Math.max(least, Math.ceil(wanted / most));
  }
  return least;
}

function candidateAt({ candidates }: VictimSearch, index: number): VictimCandidate {
  return candidates[index] as VictimCandidate;
}

/** Completes the attempt with this many of the first candidates; if that fails, the attempt is unchanged. */
function choose(attempt: PartialVictimSet, limit: number, size: number): boolean {
  if (size === 0) return isAccepted(attempt);
  for (let index = size - 1; index < limit; index += 1) {
    attempt.stepsLeft -= 1;
    if (attempt.stepsLeft <= 0) return false;
    // An earlier twin would be enough as well, so all earlier twins are in the set too.
    if (Number(attempt.twins[index]) >= size || !canReach(attempt, index, size)) continue;
    const candidate = candidateAt(attempt.search, index);
    if (!mayTake(attempt, candidate)) continue;
    take(attempt, candidate, 1);
    if (choose(attempt, index, size - 1)) return true;
    take(attempt, candidate, -1);
  }
  return false;
}

/** The last candidate was added because it makes the set enough. */
function isAccepted(attempt: PartialVictimSet): boolean {
  attempt.stepsLeft -= STEPS_OF_QUESTION;
  return attempt.search.accepts(attempt.taken);
}

/** Whether this many candidates up to this one could be enough. */
function canReach({ left, most, search }: PartialVictimSet, index: number, size: number): boolean {
  const { gives } = candidateAt(search, index).profile;
  for (let need = 0; need < left.length; need += 1) {
    const others = size === 1 ? 0 : times(amountAt(most[index] ?? [], need), size - 1);
    if (plus(amountAt(gives, need), others) < amountAt(left, need)) return false;
  }
  return true;
}

function mayTake({ budgets, reserves }: PartialVictimSet, { pod, profile }: VictimCandidate): boolean {
  for (const [reserve, amount] of profile.costs) if (amount > amountAt(reserves, reserve)) return false;
  return pod.budgets.every((budget) => (budgets.get(budget) ?? Infinity) >= 1);
}

/** Adds a candidate, or removes the last one with -1. */
function take(attempt: PartialVictimSet, { pod, profile }: VictimCandidate, times: 1 | -1): void {
  const { budgets, left, reserves, taken } = attempt;
  const change = (from: Whole, amount: Whole): Whole => (times === 1 ? minus(from, amount) : plus(from, amount));
  for (const [need, amount] of profile.gives.entries()) left[need] = change(amountAt(left, need), amount);
  for (const [reserve, amount] of profile.costs) reserves[reserve] = change(amountAt(reserves, reserve), amount);
  for (const budget of pod.budgets) budgets.set(budget, (budgets.get(budget) ?? Infinity) - times);
  if (times === 1) taken.push(pod);
  else taken.pop();
}

/** Adds candidates in order until they are enough, then removes those that are not needed, the last in order first. */
function reducedSet(search: VictimSearch): readonly RunningPod[] | undefined {
  const chosen = takeInOrder(startAttempt(search));
  if (chosen === undefined) return undefined;
  for (const candidate of chosen.toReversed()) {
    const rest = chosen.filter((each) => each !== candidate);
    if (isEnough(search, rest)) chosen.splice(chosen.indexOf(candidate), 1);
  }
  const victims = chosen.map(({ pod }) => pod);
  return chosen.length <= search.maxSize && search.accepts(victims) ? victims : undefined;
}

function takeInOrder(attempt: PartialVictimSet): VictimCandidate[] | undefined {
  const chosen: VictimCandidate[] = [];
  for (const candidate of attempt.search.candidates) {
    if (attempt.left.every((left) => left <= 0)) return chosen;
    if (!mayTake(attempt, candidate)) continue;
    take(attempt, candidate, 1);
    chosen.push(candidate);
  }
  return attempt.left.every((left) => left <= 0) ? chosen : undefined;
}

function isEnough({ needs }: VictimSearch, chosen: readonly VictimCandidate[]): boolean {
  return needs.every((amount, need) => {
    return chosen.reduce<Whole>((left, { profile }) => minus(left, amountAt(profile.gives, need)), amount) <= 0;
  });
}

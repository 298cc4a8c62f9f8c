import type { Because } from '#shared/domain/base/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';
import type { ThresholdValue } from '#shared/domain/pressure/threshold.ts';
import { quantityNumber } from '#shared/domain/quantity/quantity.ts';

/** A candidate that was skipped, and why. */
export interface Ineligible {
  readonly candidate: Candidate;
  readonly because: Because;
}

export interface VictimRules {
  /** Why a pod must not be evicted in addition to the victims chosen so far; `undefined` if it may be. */
  readonly protectionOf: (
    candidate: Candidate,
    victims: readonly Candidate[],
    ineligible: readonly Ineligible[],
  ) => Because | undefined;
  /** No more victims than this; 0 means none. */
  readonly most: number;
  /** How much must be freed, in the signal's unit; infinite if only the number of victims counts. */
  readonly gap: number;
}

export interface VictimChoice {
  readonly victims: readonly Candidate[];
  /** Candidates that were skipped before the last victim was found, each with its reason. */
  readonly ineligible: readonly Ineligible[];
  /** What the victims use together. */
  readonly freed: number;
}

/** Walks the ranking from its head and chooses pods until their usage closes the gap, or no more may be chosen. */
export function chooseVictims(ranked: readonly Candidate[], rules: VictimRules): VictimChoice {
  const victims: Candidate[] = [];
  const ineligible: Ineligible[] = [];
  let freed = 0;
  for (const candidate of ranked) {
    if (victims.length >= rules.most || freed >= rules.gap) break;
    const because = rules.protectionOf(candidate, victims, ineligible);
    if (because !== undefined) {
      ineligible.push({ candidate, because });
      continue;
    }
    victims.push(candidate);
    freed += candidate.usage ?? 0;
  }
  return { victims, ineligible, freed };
}

/** Victims that are not needed to close the gap stay, starting with those that rank last. */
export function withoutUnneeded(
  { victims, freed }: Pick<VictimChoice, 'victims' | 'freed'>,
  gap: number,
): readonly Candidate[] {
  let spare = freed - gap;
  return victims
    .toReversed()
    .filter(({ usage }) => {
      if (usage === undefined || usage > spare) return true;
      spare -= usage;
      return false;
    })
    .toReversed();
}

/** How much the victims of the severe stage have to free. */
export interface WantedRelief {
  readonly reasonAgainst: (candidate: Candidate) => Because | undefined;
  /** Evictions that are possible before the resource is exhausted, at least one; infinite while it does not shrink. */
  readonly inTime: number;
  /** What must be freed. */
  readonly gap: number;
  /** Setting of the policy: a share of the gap, or an amount. */
  readonly minimum: ThresholdValue | undefined;
}

const USUAL_SHARE = 0.05;
const USUAL_BYTES = 64 * 1024 * 1024;

/**
 * The least that a victim of the severe stage has to free. A pod is too small if it frees less than a worthwhile part
 * of the gap while a pod above its request frees more: evicting one small pod after another uses up windows and time.
 * It is also too small if too little time is left to close the gap with pods of its size while a larger one may be
 * evicted. A pod that closes the gap alone is never too small. A larger pod that is held protects only the smallest
 * ones.
 */
export function leastRelief(
  ranked: readonly Candidate[],
  { reasonAgainst, inTime, gap, minimum }: WantedRelief,
): number {
  const above = ranked.filter(({ exceedsRequest }) => exceedsRequest);
  const judged = above.map((each) => ({ usage: each.usage ?? 0, because: reasonAgainst(each) }));
  const evictable = largestOf(judged.filter(({ because }) => because === undefined));
  const known = largestOf(judged.filter(({ because }) => because === undefined || isOwnReason(because)));
  const [part, smallPart] = worthwhileParts(gap, minimum);
  const worthwhile = [part, smallPart].find((each) => each <= evictable) ?? 0;
  return Math.max(Math.min(gap / inTime, evictable), worthwhile, smallPart <= known ? smallPart : 0);
}

function largestOf(pods: readonly { readonly usage: number }[]): number {
  return pods.reduce((largest, { usage }) => Math.max(largest, usage), 0);
}

/**
 * The worthwhile amount, and the one that applies if no pod is that large. The larger of 5 % of the gap and 64Mi: with
 * the smaller one, every pod would be worthwhile for a small gap.
 */
function worthwhileParts(gap: number, minimum: ThresholdValue | undefined): readonly [number, number] {
  const usual = gap * USUAL_SHARE;
  if (minimum === undefined) return [Math.min(gap, Math.max(usual, USUAL_BYTES)), usual];
  const part = minimum.kind === 'share' ? gap * minimum.share : quantityNumber(minimum.amount);
  return [Math.min(gap, part), Math.min(usual, part)];
}

/** A pod that uses more than it requested, or may, and that is not evicted now. */
export interface HeldPod {
  /** `namespace/name`, or what is known about a pod that cannot be read. */
  readonly pod: string;
  readonly because: Because;
}

/** Reasons that also apply to the kubelet (`IsCriticalPod`): without this agent, another pod would be evicted. */
const SPARED_BY_KUBELET: readonly string[] = ['ProtectedPriority', 'ProtectedMirrorPod'];

/** Whether a reason against a pod would not exist for the kubelet alone. */
export function isOwnReason({ code }: Because): boolean {
  return !SPARED_BY_KUBELET.includes(code);
}

/** The skipped pods above their requests that the kubelet alone would evict, largest overage first. */
export function heldAboveRequest(ineligible: readonly Ineligible[]): readonly Ineligible[] {
  const held = ineligible.filter(({ candidate, because }) => candidate.exceedsRequest && isOwnReason(because));
  return held.toSorted((left, right) => right.candidate.roundedOverage - left.candidate.roundedOverage);
}

/** `namespace/name` of a candidate. */
export function nameOf({ facts: { pod } }: Candidate): string {
  return `${pod.namespace}/${pod.name}`;
}

/**
 * Why a pod within its request is not chosen if the policy protects such pods (decision D-2); `undefined` if it uses
 * more. A pod without statistics counts as within its request.
 */
export function withinRequestProtection({ facts, exceedsRequest }: Candidate): Because | undefined {
  if (exceedsRequest) return undefined;
  const text = 'the pod uses no more than it requests';
  return { code: 'ProtectedWithinRequest', text, facts: { priority: facts.priority } };
}

/**
 * Whether a candidate must not be evicted in place of pods whose owners are at their limits: then the largest overage
 * of those. An owner must not become immune at the cost of others, so only a pod that exceeds its own request by more
 * is evicted.
 */
export function overageOfLimited(candidate: Candidate, limited: readonly Candidate[]): number | undefined {
  if (limited.length === 0) return undefined;
  const largest = Math.max(...limited.map(({ roundedOverage }) => roundedOverage));
  return candidate.exceedsRequest && candidate.roundedOverage > largest ? undefined : largest;
}

import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';

export interface VictimRules {
  /** Why a pod must not be taken beside those that are taken already, `undefined` if it may be. */
  readonly protectionOf: (candidate: Candidate, victims: readonly Candidate[]) => Because | undefined;
  /** Whether nobody may go in place of a candidate that is passed over for this reason. */
  readonly endsChoice?: (because: Because) => boolean;
  /** No more victims than this; 0 means none. */
  readonly most: number;
  /** What must come free, in the signal's unit; infinite where only the number of victims counts. */
  readonly gap: number;
}

export interface VictimChoice {
  readonly victims: readonly Candidate[];
  /** Candidates that were passed over before the last victim was found, each with its reason. */
  readonly spared: readonly { readonly candidate: Candidate; readonly because: Because }[];
  /** What the victims use together. */
  readonly freed: number;
}

/** Walks the ranking from its head and takes pods until what they use closes the gap, or no more may be taken. */
export function chooseVictims(ranked: readonly Candidate[], rules: VictimRules): VictimChoice {
  const victims: Candidate[] = [];
  const spared: { candidate: Candidate; because: Because }[] = [];
  let freed = 0;
  for (const candidate of ranked) {
    if (victims.length >= rules.most || freed >= rules.gap) break;
    const because = rules.protectionOf(candidate, victims);
    if (because === undefined) {
      victims.push(candidate);
      freed += candidate.usage ?? 0;
      continue;
    }
    spared.push({ candidate, because });
    if (rules.endsChoice?.(because) === true) break;
  }
  return { victims, spared, freed };
}

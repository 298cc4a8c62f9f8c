import type { Because } from '#shared/domain/model/because.ts';
import type { Candidate } from '#shared/domain/ranking/candidate.ts';

/** A candidate that was passed over, and why. */
export interface Ineligible {
  readonly candidate: Candidate;
  readonly because: Because;
}

export interface VictimRules {
  /** Why a pod must not go after those that are taken or passed over already, `undefined` if it may. */
  readonly protectionOf: (
    candidate: Candidate,
    victims: readonly Candidate[],
    ineligible: readonly Ineligible[],
  ) => Because | undefined;
  /** No more victims than this; 0 means none. */
  readonly most: number;
  /** What must come free, in the signal's unit; infinite where only the number of victims counts. */
  readonly gap: number;
}

export interface VictimChoice {
  readonly victims: readonly Candidate[];
  /** Candidates that were passed over before the last victim was found, each with its reason. */
  readonly ineligible: readonly Ineligible[];
  /** What the victims use together. */
  readonly freed: number;
}

/** Walks the ranking from its head and takes pods until what they use closes the gap, or no more may be taken. */
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

/** Victims without which the others close the gap stay, those that rank last first. */
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

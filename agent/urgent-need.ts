import type { Picture } from './decide/pass-result.ts';

/** Whether it matters how old the copy of the node's pods is: a hard threshold that is enforced was met a moment ago. */
export interface UrgentNeed {
  readonly note: (picture: Picture) => void;
  readonly isMet: (now: number) => boolean;
}

/** A shortage has moments of relief, and moments without a new figure. */
const MOMENT_MS = 10_000;

/** Not met before the first pass; times are monotonic milliseconds. */
export function createUrgentNeed(): UrgentNeed {
  let metAtMs = -Infinity;
  function note({ decision, look }: Picture): void {
    const { due } = decision.judgement;
    if (due?.mode === 'Enforce' && due.stage === 'severe') metAtMs = look.now;
  }
  return { note, isMet: (now) => now - metAtMs <= MOMENT_MS };
}

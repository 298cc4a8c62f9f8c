import type { PassResult } from './decide/pass-result.ts';

/** Whether a hard threshold in Enforce mode was met recently, so that a fresh copy of the node's pods matters. */
export interface UrgentNeed {
  readonly note: (result: PassResult) => void;
  readonly isMet: (now: number) => boolean;
}

/** A shortage has moments of relief and moments without a new measurement. */
const MOMENT_MS = 10_000;

/** Not met before the first pass; times are monotonic milliseconds. */
export function createUrgentNeed(): UrgentNeed {
  let metAtMs = -Infinity;
  function note({ decision, snapshot }: PassResult): void {
    const { trigger } = decision.assessment;
    if (trigger?.mode === 'Enforce' && trigger.stage === 'severe') metAtMs = snapshot.now;
  }
  return { note, isMet: (now) => now - metAtMs <= MOMENT_MS };
}

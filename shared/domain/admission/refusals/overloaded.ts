import { because } from '#shared/domain/admission/admission-code.ts';
import type { Refused } from '#shared/domain/admission/decision.ts';

const ASK_AGAIN_SECONDS = 1;

/** The refusal of a request for which there is no time or memory at present. Kubernetes clients retry by themselves. */
export function overloaded(why: string): Refused {
  const reason = because('Overloaded', `${why}; try again`);
  return { kind: 'refused', code: 429, because: reason, warnings: [], retryAfterSeconds: ASK_AGAIN_SECONDS };
}

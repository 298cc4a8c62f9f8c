import type { Refused } from '#shared/domain/admission/decision.ts';
import { refuseFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';

/** The refusal of a request for which there is no time or memory at present. Kubernetes clients retry by themselves. */
export function overloaded(cause: string): Refused {
  return refuseFor(MESSAGES.overloaded, { cause });
}

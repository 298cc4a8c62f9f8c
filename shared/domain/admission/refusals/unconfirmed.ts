import type { Refused } from '#shared/domain/admission/decision.ts';
import { refuseFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import { PHRASES } from '#shared/domain/admission/messages/phrases.ts';

/** Why a decision could not be checked on live objects. */
export interface Unconfirmed {
  readonly cause: string;
  /**
   * Seconds since the API server last sent anything about the objects that the decision uses; `undefined` for never.
   */
  readonly ageSeconds: number | undefined;
}

/**
 * A refusal from cached objects that stands because the API server cannot be read: a tenant can slow it down and must
 * not gain from that. The message says how old the data is.
 */
export function standsUnconfirmed(refused: Refused, { cause, ageSeconds }: Unconfirmed): Refused {
  return { ...refused, unconfirmed: PHRASES.unconfirmed(ageSeconds, cause) };
}

/** The refusal for a namespace that is not cached and cannot be read: its policies are not known. */
export function refuseUnknownNamespace(namespace: string, { cause }: Unconfirmed): Refused {
  return refuseFor(MESSAGES.namespaceUnknown, { namespace, cause }, { namespace });
}

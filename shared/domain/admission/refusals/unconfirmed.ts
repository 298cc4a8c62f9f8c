import { because } from '#shared/domain/admission/admission-code.ts';
import type { Refused } from '#shared/domain/admission/decision.ts';

/** Why a decision could not be checked on live objects. */
export interface Unconfirmed {
  readonly cause: string;
  /**
   * Seconds since the API server last sent anything about the objects that the decision uses; `undefined` for never.
   */
  readonly ageSeconds: number | undefined;
}

const ASK_AGAIN_SECONDS = 1;

/**
 * A refusal from cached objects that stands because the API server cannot be read: a tenant can slow it down and must
 * not gain from that. The message says how old the data is.
 */
export function standsUnconfirmed(refused: Refused, { cause, ageSeconds }: Unconfirmed): Refused {
  const when = ageSeconds === undefined ? 'earlier' : `${ageSeconds} s ago`;
  return { ...refused, unconfirmed: `as of ${when}: cannot read the current state: ${cause}` };
}

/** The refusal for a namespace that is not cached and cannot be read: its policies are not known. */
export function refuseUnknownNamespace(namespace: string, { cause }: Unconfirmed): Refused {
  const text = `cannot read namespace \`${namespace}\`, whose policies are not known yet: ${cause}; try again`;
  const reason = because('NamespaceUnknown', text, { namespace });
  return { kind: 'refused', code: 429, because: reason, warnings: [], retryAfterSeconds: ASK_AGAIN_SECONDS };
}

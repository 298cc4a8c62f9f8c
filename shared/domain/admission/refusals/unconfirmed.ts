import { because } from '#shared/domain/admission/admission-code.ts';
import type { Refused } from '#shared/domain/admission/decision.ts';

/** Why a decision could not be made again on what the API server says now. */
export interface Unconfirmed {
  readonly cause: string;
  /** How long ago the API server was last heard about what the decision follows from; `undefined` for never. */
  readonly ageSeconds: number | undefined;
}

const ASK_AGAIN_SECONDS = 1;

/**
 * A refusal from cached objects that stands because the API server cannot be asked again: a tenant can make it slow, and
 * must not get in by that. It says as of when.
 */
export function standsUnconfirmed(refused: Refused, { cause, ageSeconds }: Unconfirmed): Refused {
  const when = ageSeconds === undefined ? 'earlier' : `${ageSeconds} s ago`;
  return { ...refused, unconfirmed: `as of ${when}: cannot read the current state: ${cause}` };
}

/** A namespace that has not been seen yet and cannot be read: its policies are not known. */
export function refuseUnknownNamespace(namespace: string, { cause }: Unconfirmed): Refused {
  const text = `cannot read namespace \`${namespace}\`, whose policies are not known yet: ${cause}; try again`;
  const reason = because('NamespaceUnknown', text, { namespace });
  return { kind: 'refused', code: 429, because: reason, warnings: [], retryAfterSeconds: ASK_AGAIN_SECONDS };
}

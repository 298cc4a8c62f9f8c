import { type AdmissionDecision, type Refused, refuseFor, allow } from './decision.ts';
import { MESSAGES } from './messages.ts';
import type { AdmissionRequest } from './request.ts';
import { PHRASES } from './messages/priority-messages.ts';

const MAX_SHOWN_LENGTH = 100;

/** The refusal of an object that cannot be decoded; `where` is the field of the request that contains it. */
export function malformed(
  where: 'object' | 'oldObject',
  { field, message }: { readonly field: string; readonly message: string },
): AdmissionDecision {
  return malformedField(field === '' ? where : `${where}.${field}`, message);
}

/** The refusal of a request with a field of the wrong value. */
export function malformedField(field: string, cause: string): AdmissionDecision {
  return refuseFor(MESSAGES.malformed, { field, cause }, { field });
}

/** The refusal of a resource that this path does not handle: a rule of the webhook configuration is wrong. */
export function unexpectedResource({ resource, subresource }: AdmissionRequest, expected: string): AdmissionDecision {
  const given = subresource === '' ? resource : `${resource}/${subresource}`;
  return refuseFor(MESSAGES.unexpectedResource, { expected, given: given.slice(0, MAX_SHOWN_LENGTH) });
}

/** The refusal of a request for which there is no time or memory at present. Kubernetes clients retry by themselves. */
export function overloaded(cause: string): Refused {
  return refuseFor(MESSAGES.overloaded, { cause });
}

/** Why a decision could not be checked on live objects. */
interface Unconfirmed {
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

/** The decision in mode `DryRun`: a refusal becomes a warning. */
export function asDryRun(decision: AdmissionDecision): AdmissionDecision {
  if (decision.kind === 'allowed') return decision;
  return allow(decision.because, [...decision.warnings, PHRASES.dryRun(decision.because.text)]);
}

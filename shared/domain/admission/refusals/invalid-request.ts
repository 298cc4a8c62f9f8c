import type { AdmissionDecision } from '#shared/domain/admission/decision.ts';
import { refuseFor } from '#shared/domain/admission/message.ts';
import { MESSAGES } from '#shared/domain/admission/messages.ts';
import type { AdmissionRequest } from '#shared/domain/admission/request.ts';

const LONGEST_SHOWN = 100;

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
  return refuseFor(MESSAGES.unexpectedResource, { expected, given: given.slice(0, LONGEST_SHOWN) });
}
